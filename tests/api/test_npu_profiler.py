"""torch.npu.profiler: start, stop, report; the interface of torch.cuda.profiler."""

import json
import threading

import fresh
import pytest
import torch

import torch_npu
from torch_npu.npu import profiler


@pytest.fixture(autouse=True)
def nothing_is_measured():
    profiler.stop()
    yield
    profiler.stop()


def step(x):
    (x @ x).relu()


@pytest.fixture
def x():
    return torch.randn(128, 128, device="npu")


def rows(report):
    return {operator.name: operator for operator in report.operators}


@pytest.mark.api("torch.npu.profiler.start", "torch.npu.profiler.stop")
def test_counts_totals_averages_and_shares(x):
    assert torch.npu.profiler is torch_npu.npu.profiler
    step(x)
    profiler.start()
    for _ in range(5):
        step(x)
    report = profiler.stop()
    step(x)
    found = rows(report)
    assert {name: row.count for name, row in found.items()} == {"aten::mm": 5, "aten::relu": 5}
    assert report.total_operations == 10
    for row in report.operators:
        assert row.average_time_ms == pytest.approx(row.total_time_ms / 5)
        assert row.percentage == pytest.approx(100 * row.total_time_ms / report.total_time_ms)
    assert sum(row.percentage for row in report.operators) == pytest.approx(100)
    assert found["aten::mm"].kernels == ("aclnnMm",)
    totals = [row.total_time_ms for row in report.operators]
    assert totals == sorted(totals, reverse=True)


@pytest.mark.api(
    "torch.npu.profiler.Report.recommendations", "torch.npu.profiler.Report.bottlenecks"
)
def test_bottlenecks_and_recommendations(x, aicpu_route):
    profiler.start()
    for _ in range(40):
        torch.special.i0(x)
    x + 1
    report = profiler.stop()
    assert [row.name for row in report.bottlenecks] == ["aten::i0"]
    assert report.bottlenecks[0].percentage > 20
    (sentence,) = report.recommendations
    assert sentence.startswith("aten::i0: ")
    assert "AI CPU" in sentence


@pytest.mark.api("torch.npu.profiler.Report.recommendations")
def test_without_a_bottleneck_it_says_so():
    rows = [
        profiler.OperatorTime(f"aten::op{i}", 1, 2.0, 2.0, 20.0, ("aclnnOp",)) for i in range(5)
    ]
    even = profiler.Report(tuple(rows), None)
    assert even.bottlenecks == ()
    assert even.recommendations == ["no operator takes more than 20 % of the time"]
    profiler.start()
    assert profiler.stop().recommendations == ["no operator ran on an npu"]


@pytest.mark.api("torch.npu.profiler.report", "torch.npu.profiler.Report.as_dict")
def test_report_is_json(x):
    profiler.start()
    step(x)
    stopped = profiler.stop()
    assert profiler.report() is stopped
    read = json.loads(json.dumps(profiler.report().as_dict()))
    assert read["total_operations"] == 2
    row = read["operation_breakdown"]["aten::mm"]
    assert set(row) == {"count", "total_time_ms", "average_time_ms", "percentage", "kernels"}
    for found in read["bottlenecks"]:
        assert set(found) == {"operation", "percentage", "suggestion"}
        assert found["percentage"] > 20
    text = str(stopped).splitlines()
    assert text[0].split() == ["operator", "calls", "total", "ms", "average", "share"]
    assert text[1].split()[:2] == [stopped.operators[0].name, "1"]
    assert text[3].split()[:2] == ["total", "2"]


@pytest.mark.api("torch.npu.profiler.Report.export_chrome_trace")
def test_trace_of_a_viewer(x, tmp_path):
    profiler.start()
    step(x)
    profiler.stop().export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {"aten::mm", "aclnnMm"} <= {event.get("name") for event in events}


@pytest.mark.api("torch.npu.profiler.start", "torch.npu.profiler.stop")
def test_twice_and_without_start(x):
    """As cudaProfilerStart and cudaProfilerStop: no effect."""
    assert profiler.stop() is None
    profiler.start()
    step(x)
    profiler.start()
    step(x)
    assert rows(profiler.stop())["aten::mm"].count == 2
    assert profiler.stop() is None


@pytest.mark.api("torch.npu.profiler.profile")
def test_an_error_in_the_block(x):
    with pytest.raises(RuntimeError, match="cannot be multiplied"), profiler.profile():
        x.relu() @ x[:3]
    assert rows(profiler.report())["aten::relu"].count == 1
    assert profiler.stop() is None


@pytest.mark.api("torch.npu.profiler.start", "torch.npu.profiler.stop")
def test_threads(x):
    """Operators of all threads count, and any thread may stop."""

    def in_thread(work):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    profiler.start()
    step(x)
    in_thread(lambda: [step(x) for _ in range(3)])
    stopped = []
    in_thread(lambda: stopped.append(profiler.stop()))
    assert rows(stopped[0])["aten::mm"].count == 4
    y = x.clone().requires_grad_()
    profiler.start()
    (y @ y).sum().backward()  # in autograd's thread
    assert rows(profiler.stop())["aten::mm"].count == 3


@pytest.mark.api("torch.npu.profiler.start", "torch.npu.profiler.stop")
def test_beside_the_profiler_of_torch(x):
    with torch.profiler.profile() as other:
        with pytest.raises(RuntimeError, match=r"torch\.profiler is recording"):
            profiler.start()
        step(x)
    assert any(event.name == "aten::mm" for event in other.events())
    profiler.start()
    with torch.profiler.profile():
        step(x)
    with pytest.raises(RuntimeError, match=r"torch\.profiler was started after"):
        profiler.stop()
    profiler.start()
    step(x)
    assert rows(profiler.stop())["aten::mm"].count == 1


@pytest.mark.api("torch.npu.profiler.report")
def test_report_without_a_measurement():
    program = """
import torch
try:
    torch.npu.profiler.report()
except RuntimeError as error:
    print(error)
torch.npu.profiler.start()
torch.ones(2, device="npu") + 1
"""
    assert "nothing was measured; call start()" in fresh.output(program)
