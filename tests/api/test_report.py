"""torch-npu report: what it reads from a recording, what it recommends, what it says about wrong use."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from torch_npu import profiler
from torch_npu._command_line import main
from torch_npu.profiler.reporting import advice, page
from torch_npu.profiler.reporting.limits import Limits
from torch_npu.profiler.reporting.run import Copy, HostRange, Run, Sample, Wait, Work, read

MS = 1_000_000
FILE = str(Path(__file__).resolve())


def line(number: int) -> tuple[str, ...]:
    return (f"{FILE}:{number}",)


def work(begin: int, end: int, number: int, **changes: object) -> Work:
    plain = Work(
        "aclnnAddmm_MatMulV2", "MatMulV2", "AI_CORE", "1", begin * MS, end * MS, begin * MS, "aten::addmm", 1,
        ((8, 64), (64, 64)), ((8, 64),), ("FLOAT", "FLOAT"), ("FLOAT",), 0, line(number),
    )  # fmt: skip
    return replace(plain, **changes)


def run(**parts: object) -> Run:
    whole = Run(Path("."), 0, 100 * MS, cpus=2, main_thread=1, has_lines=True)
    for name, value in parts.items():
        setattr(whole, name, value)
    return whole


def waits_in_a_loop() -> Run:
    # Each step: 10 ms of work that the host waits for, then 10 ms in which the host prepares the next one.
    steps = range(0, 100, 20)
    return run(
        works=[work(t, t + 10, 1) for t in steps],
        waits=[Wait(t * MS, (t + 10) * MS, 1, line(7)) for t in steps],
    )


def a_slow_loader() -> Run:
    samples = [
        Sample(t * MS, 1, (*line(7), *line(1)) if t % 20 < 15 else line(1), 0)
        for t in range(0, 101)
    ]
    return run(
        works=[work(t + 16, t + 18, 1) for t in range(0, 100, 20)],
        ranges=[
            HostRange("enumerate(DataLoader)#_Single.__next__", 1, t * MS, (t + 15) * MS)
            for t in range(0, 100, 20)
        ],
        samples=samples,
    )


def the_ai_cpu() -> Run:
    return run(works=[work(0, 40, 7, core="AI_CPU", name="aicpu::svd"), work(40, 100, 1)])


def casts() -> Run:
    cast = {
        "name": "aclnnInplaceCopy_Copy",
        "kind": "InplaceCopy",
        "input_types": ("FLOAT",),
        "core": "AI_VECTOR_CORE",
    }
    return run(
        works=[w for t in range(0, 100, 20) for w in (work(t, t + 8, 7, **cast), work(t + 8, t + 20, 1))]
    )  # fmt: skip


def one_by_one() -> Run:
    single = {"input_shapes": ((1, 64), (64, 64)), "output_shapes": ((1, 64),)}
    return run(works=[work(t, t + 2, 7, **single) for t in range(0, 100, 10)])


def copies_again() -> Run:
    return run(
        works=[work(t + 10, t + 20, 1) for t in range(0, 100, 20)],
        copies=[
            Copy("Memcpy HtoD", t * MS, (t + 9) * MS, 1 << 20, 5, line(7))
            for t in range(0, 100, 20)
        ],
    )


FAULTS = {
    waits_in_a_loop: ("the host waits for the device", 0.2, 0.5),
    a_slow_loader: ("the device waits for the data loader", 0.3, 0.75),
    the_ai_cpu: ("an operator runs on the AI CPU", 0.3, 0.4),
    casts: ("a tensor is brought into another layout again and again", 0.4, 0.4),
    one_by_one: ("samples are computed one by one", 0.6, 0.8),
    copies_again: ("the same data are copied to the device again and again", 0.36, 0.36),
}


@pytest.mark.parametrize("created", FAULTS, ids=lambda created: created.__name__)
def test_each_fault_is_named_with_its_line_and_gain(created):
    fault, least, most = FAULTS[created]
    first = advice.recommendations(created())[0]
    assert (first.fault, first.location) == (fault, line(7)[0])
    assert least - 1e-9 <= first.share <= most + 1e-9
    assert first.evidence
    assert first.change
    assert first.line == Path(FILE).read_text().splitlines()[6].strip()


def without_waits() -> Run:
    # The host launched everything ahead: a wait at the end costs nothing.
    works = [work(t, t + 10, 1, launched=t * MS // 10) for t in range(0, 100, 10)]
    return run(works=works, waits=[Wait(50 * MS, 100 * MS, 1, line(7))] * 2)


def new_inputs() -> Run:
    whole = copies_again()
    whole.copies = [replace(copy, content=i) for i, copy in enumerate(whole.copies)]
    whole.waits = [Wait(c.begin, c.end, 1, c.stack) for c in whole.copies]
    return whole


def a_batch() -> Run:
    return run(works=[work(t, t + 2, 7) for t in range(0, 100, 10)])


def sums_of_batches() -> Run:
    row = {"core": "AI_VECTOR_CORE", "output_shapes": ((1, 64),)}
    return run(works=[work(t, t + 2, 7, **row) for t in range(0, 100, 10)])


@pytest.mark.parametrize(
    "created",
    [without_waits, new_inputs, a_batch, sums_of_batches],
    ids=lambda created: created.__name__,
)
def test_where_nothing_is_wrong_nothing_is_recommended(created):
    assert advice.recommendations(created()) == []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    host, x = torch.randn(512, 64), torch.randn(8, 64, device="npu")
    config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)
    with profiler.profile(
        schedule=profiler.schedule(wait=0, warmup=1, active=2, repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler(str(folder)),
        record_shapes=True,
        profile_memory=True,
        experimental_config=config,
    ) as profile:
        for _ in range(3):
            weight = host.npu()  # copied
            (x @ weight.t()).sum().item()  # waits
            torch.linalg.svdvals(x)  # on the AI CPU
            profile.step()
    return folder


def number_of(comment: str) -> str:
    lines = Path(__file__).read_text().splitlines()
    return next(str(i) for i, text in enumerate(lines, 1) if text.endswith(f"  # {comment}"))


def test_a_recording_has_the_lines_of_the_program(recorded):
    found = profiler.report(recorded)
    assert found.steps == 2
    assert sum(row.share for row in found.operators) == pytest.approx(1)
    lines = {row.name: row.location.rpartition(":")[2] for row in found.operators}
    assert lines["aclnnMm_MatMulV2"] == number_of("waits")
    (host,) = [name for name in lines if name.startswith("aicpu::")]
    assert lines[host] == number_of("on the AI CPU")
    assert number_of("waits") in {row.location.rpartition(":")[2] for row in found.waits}
    copies = [row for row in found.copies if row.name == "Memcpy HtoD"]
    assert [(row.location.rpartition(":")[2], row.count, row.bytes) for row in copies] == [
        (number_of("copied"), 2, 2 * 512 * 64 * 4)
    ]
    contents = [copy.content for copy in read(recorded).copies if copy.name == "Memcpy HtoD"]
    assert len(set(contents)) == 1
    assert max(size for _, size in found.memory) >= 512 * 64 * 4
    assert found.owners


def test_gaps_and_work_fill_the_recording(recorded):
    whole = read(recorded)
    assert whole.busy_ns + sum(b - a for a, b in whole.gaps) == whole.duration


def test_text_json_page_and_workbook(recorded, tmp_path, capsys):
    files = {name: tmp_path / f"report.{name}" for name in ("json", "html", "xlsx")}
    arguments = [f"--{name}={path}" for name, path in files.items()]
    assert main(["report", str(recorded), "--before", str(recorded), *arguments]) == 0
    printed = capsys.readouterr().out
    assert "time by kernel" in printed
    assert "aclnnMm_MatMulV2" in printed
    assert "GFLOP/s" in printed
    assert "before:" in printed
    stored = json.loads(files["json"].read_text())
    assert stored["operators"][0]["name"] in printed
    text = files["html"].read_text()
    assert "Recommendations" in text
    assert "Plotly.newPlot" in text
    assert 'src="http' not in text
    assert files["xlsx"].read_bytes()[:2] == b"PK"


def test_without_the_tools_one_sentence_says_what_to_install(
    recorded, monkeypatch, capsys, tmp_path
):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    assert main(["report", str(recorded), "--no-limits", f"--html={tmp_path / 'x.html'}"]) == 2
    printed = capsys.readouterr()
    assert "time by kernel" in printed.out
    assert printed.err.strip() == f"torch-npu report: {page.MISSING}"


def test_a_roofline_is_below_its_limits(recorded):
    found = profiler.report(recorded, Limits(gflops=1e6, gbytes=1e6))
    assert found.roofline
    assert all(0 < point.share_of_limit < 1 for point in found.roofline)
    assert {point.bound for point in found.roofline} <= {"memory", "arithmetic"}


def test_what_is_no_recording_is_one_sentence(recorded, tmp_path, capsys):
    assert main(["report", str(tmp_path / "none")]) == 2
    assert "is no folder" in capsys.readouterr().err
    assert main(["report", str(tmp_path), "--no-limits"]) == 2
    assert "is no recording" in capsys.readouterr().err
    (created,) = recorded.glob("*_ascend_pt")
    for name, printed in (
        ("program_lines.json", "is damaged"),
        ("ASCEND_PROFILER_OUTPUT/trace_view.json", "is damaged"),
    ):
        copy = tmp_path / name.replace("/", "_")
        shutil.copytree(created, copy)
        broken = copy / name
        broken.write_bytes(broken.read_bytes()[:100])
        assert main(["report", str(copy), "--no-limits"]) == 2
        message = capsys.readouterr().err
        assert printed in message
        assert str(broken) in message
