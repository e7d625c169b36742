"""torch_npu.profiler: the tree of files that it writes, and what it says about wrong use.

Facts: the names of the files and the columns are those that the official plug-in 2.13.0 writes for the same program;
tests/oracle/test_profiler.py runs it.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
import torch

from torch_npu import profiler

STEPS = 2
LEVEL_NONE = {
    "memory_record.csv",
    "operator_details.csv",
    "operator_memory.csv",
    "trace_view.json",
}
LEVEL0 = LEVEL_NONE | {
    "kernel_details.csv",
    "npu_module_mem.csv",
    "step_trace_time.csv",
    "task_time.csv",
}
LEVEL1 = LEVEL0 | {"api_statistic.csv", "op_statistic.csv"}
COLUMNS = {
    "memory_record.csv": "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,"
    "Device Type",
    "npu_module_mem.csv": "Device_id,Component,Timestamp(us),Total Reserved(MB),Device",
    "operator_details.csv": "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
    "Device Self Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),"
    "Device Total Duration With AICore(us)",
    "operator_memory.csv": "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
    "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),"
    "Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type",
    "step_trace_time.csv": "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,"
    "Stage,Bubble,Communication(Not Overlapped and Exclude Receive),Preparing",
    "task_time.csv": "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)",
}


def run(folder: Path, level: str = "Level1", analyse: bool = True, **settings: object) -> Path:
    """Profiles two steps of a small network; returns the folder of the run."""
    model = torch.nn.Linear(64, 64).npu()
    x = torch.randn(8, 64, device="npu")
    model(x).sum().backward()
    config = profiler._ExperimentalConfig(profiler_level=level, data_simplification=False)
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
        schedule=profiler.schedule(wait=0, warmup=1, active=STEPS, repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler(str(folder), analyse_flag=analyse),
        experimental_config=config,
        **settings,
    ) as profile:
        for _ in range(STEPS + 1):
            model(x).relu().sum().backward()
            profile.step()
    (result,) = folder.glob("*_ascend_pt")
    return result


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("level", "files"),
    [("Level_none", LEVEL_NONE), ("Level0", LEVEL0), ("Level1", LEVEL1), ("Level2", LEVEL1)],
)
def test_the_tree_is_the_official_one(tmp_path, level, files):
    result = run(tmp_path, level, record_shapes=True, profile_memory=True)
    output = result / "ASCEND_PROFILER_OUTPUT"
    assert {path.name for path in output.iterdir()} == files
    for name, columns in COLUMNS.items():
        if name in files:
            assert (output / name).read_text().splitlines()[0] == columns, name
    info = json.loads((result / "profiler_info.json").read_text())
    assert info["config"]["experimental_config"]["_profiler_level"] == level
    assert json.loads((result / "profiler_metadata.json").read_text())["ENV_VARIABLES"]


def test_operators_steps_and_kernels_agree(tmp_path):
    output = (
        run(tmp_path, record_shapes=True, profile_memory=True, with_stack=True)
        / "ASCEND_PROFILER_OUTPUT"
    )
    kernels = rows(output / "kernel_details.csv")
    by_step = Counter(row["Step Id"] for row in kernels)
    assert set(by_step) == {"1", "2"}
    assert by_step["1"] == by_step["2"]
    names = [row["Name"] for row in kernels]
    assert names.count("aclnnAddmm_MatMulV2") == STEPS
    total = sum(float(row["Duration(us)"]) for row in kernels)
    operators = rows(output / "operator_details.csv")
    own = sum(float(row["Device Self Duration(us)"]) for row in operators)
    assert own == pytest.approx(total, abs=0.001 * len(kernels))
    (product, *_) = [row for row in operators if row["Name"] == "aten::addmm"]
    assert float(product["Device Self Duration(us)"]) > 0
    assert product["Input Shapes"].split() == ["64;", "8,64;", "64,64;", ";"]
    assert "test_profiler_tree.py" in product["Call Stack"]
    steps = rows(output / "step_trace_time.csv")
    assert [row["Step"] for row in steps] == ["1", "2"]
    computing = sum(float(row["Computing"]) for row in steps)
    assert computing == pytest.approx(total, abs=0.001 * len(kernels))
    owners = {row["Name"] for row in rows(output / "operator_memory.csv")}
    assert {"aten::addmm", "aten::relu"} <= owners


def test_every_kernel_is_connected_with_an_operator(tmp_path):
    output = run(tmp_path) / "ASCEND_PROFILER_OUTPUT"
    events = json.loads((output / "trace_view.json").read_text())
    flows = [event for event in events if event.get("cat") == "async_npu"]
    assert len(flows) == 2 * len(rows(output / "kernel_details.csv"))
    slices = {
        (event["pid"], event["tid"], event["ts"]): event for event in events if event["ph"] == "X"
    }
    for flow in flows:
        end = slices[flow["pid"], flow["tid"], flow["ts"]]
        if flow["ph"] == "s":
            assert end["cat"] == "cpu_op"
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert {"Python", "CANN", "Ascend Hardware", "Overlap Analysis"} <= names


def test_raw_files_can_be_analysed_later(tmp_path):
    result = run(tmp_path, analyse=False)
    assert not (result / "ASCEND_PROFILER_OUTPUT").exists()
    profiler.analyse(str(tmp_path))
    assert (result / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").exists()


def test_without_a_schedule_everything_is_one_run(tmp_path):
    x = torch.randn(16, device="npu")
    handler = profiler.tensorboard_trace_handler(str(tmp_path), worker_name="me")
    with profiler.profile(on_trace_ready=handler) as profile:
        profile.add_metadata_json("sizes", "[16]")
        (x + x).neg()
    (result,) = tmp_path.glob("me_*_ascend_pt")
    names = [row["Name"] for row in rows(result / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv")]
    assert names == ["aclnnAdd_Add", "aclnnNeg_Neg"]
    assert json.loads((result / "profiler_metadata.json").read_text())["sizes"] == [16]
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())


def test_an_exception_inside_ends_the_profile(tmp_path):
    handler = profiler.tensorboard_trace_handler(str(tmp_path))

    def fail() -> None:
        with profiler.profile(on_trace_ready=handler):
            torch.ones(4, device="npu").neg()
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fail()


def test_wrong_use_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="profiler_level is 'Level9': it is one of"):
        profiler._ExperimentalConfig(profiler_level="Level9")
    with pytest.raises(ValueError, match="msprof --export=on --type=db"):
        profiler._ExperimentalConfig(export_type=profiler.ExportType.Db)
    with pytest.raises(ValueError, match="is no folder"):
        profiler.analyse(str(tmp_path))
    with pytest.warns(UserWarning, match="sys_io: not collected"):
        profiler._ExperimentalConfig(sys_io=True)
    with (
        profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))),
        pytest.raises(RuntimeError, match="a profile is collected in"),
        profiler.profile(),
    ):
        pass
