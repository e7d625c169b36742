"""The official torch_npu wheel's own profiler on softnpu, unmodified: its whole tree. Run by `./dev oracle`.

Facts: the names of the files and their columns are the wheel's (BSD-3-Clause).
"""

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_npu")

STEPS = 2
TEXT = {
    "kernel_details.csv",
    "memory_record.csv",
    "npu_module_mem.csv",
    "operator_details.csv",
    "operator_memory.csv",
    "step_trace_time.csv",
    "task_time.csv",
    "trace_view.json",
}
STATISTICS = {"op_statistic.csv", "api_statistic.csv"}
BY_LEVEL = {
    "Level_none": {
        "memory_record.csv",
        "operator_details.csv",
        "operator_memory.csv",
        "trace_view.json",
    },
    "Level0": TEXT,
    "Level1": TEXT | STATISTICS,
    "Level2": TEXT | STATISTICS,
}
PROGRAM = f"""
import sys
import torch
import torch_npu
from torch_npu import profiler

level, kind, out = sys.argv[1:]
config = profiler._ExperimentalConfig(
    profiler_level=getattr(profiler.ProfilerLevel, level),
    export_type=[getattr(profiler.ExportType, kind)],
    data_simplification=False,
)
torch.npu.set_compile_mode(jit_compile=False)
model = torch.nn.Linear(64, 64).npu()
x = torch.randn(8, 64, device="npu")
model(x).sum().backward()
torch.npu.synchronize()
with profiler.profile(
    activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU],
    schedule=profiler.schedule(wait=0, warmup=1, active={STEPS}, repeat=1),
    on_trace_ready=profiler.tensorboard_trace_handler(out),
    record_shapes=True,
    profile_memory=True,
    experimental_config=config,
) as profile:
    for _ in range({STEPS + 1}):
        model(x).relu().sum().backward()
        torch.npu.synchronize()
        profile.step()
"""


def run(folder: Path, level: str, kind: str) -> Path:
    """Profiles the program with the wheel; returns ASCEND_PROFILER_OUTPUT."""
    tools = Path(os.environ["LD_LIBRARY_PATH"].split(os.pathsep)[0]).parents[1] / "cann" / "tools"
    environment = {**os.environ, "PATH": f"{tools / 'profiler' / 'bin'}:{os.environ['PATH']}"}
    environment.pop("LD_DEBUG", None)
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, level, kind, folder],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "[ERROR]" not in done.stdout + done.stderr, done.stdout
    (output,) = folder.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT")
    return output


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("level", BY_LEVEL)
def test_text(tmp_path, level):
    output = run(tmp_path, level, "Text")
    assert {path.name for path in output.iterdir()} - {"analyse.done"} == BY_LEVEL[level]
    if level == "Level_none":
        return
    kernels = rows(output / "kernel_details.csv")
    in_steps = [row for row in kernels if row["Step Id"]]
    assert {row["Step Id"] for row in in_steps} == {"1", "2"}
    names = [row["Name"] for row in in_steps]
    assert names.count("aclnnAddmm_MatMulV2") == STEPS
    assert names.count("aclnnRelu_Relu") == STEPS
    assert all(float(row["Duration(us)"]) > 0 for row in kernels)
    steps = rows(output / "step_trace_time.csv")
    assert [row["Step"] for row in steps] == ["1", "2"]
    computing = sum(float(row["Computing"]) for row in steps)
    assert computing == pytest.approx(sum(float(row["Duration(us)"]) for row in in_steps), abs=0.01)
    events = json.loads((output / "trace_view.json").read_text())
    flows = [event for event in events if event.get("cat") == "async_npu"]
    # Each kernel is connected with its operator: a flow has two ends.
    assert len(flows) == 2 * len(in_steps)
    operators = rows(output / "operator_details.csv")
    on_device = sum(float(row["Device Self Duration(us)"]) for row in operators)
    assert on_device == pytest.approx(computing, abs=0.01)
    if level != "Level0":
        (product,) = {row["Input Shapes"] for row in in_steps if "Addmm" in row["Name"]}
        assert product.strip('"') == "64;8,64;64,64"
        assert {"Task ID", "OP State", "Accelerator Core"} <= set(kernels[0])


def test_database(tmp_path):
    output = run(tmp_path, "Level1", "Db")
    assert {path.name for path in output.iterdir()} - {"analyse.done"} == {
        "ascend_pytorch_profiler.db",
        "analysis.db",
    }
    database = sqlite3.connect(output / "ascend_pytorch_profiler.db")

    def count(query: str) -> int:
        return database.execute(f"SELECT COUNT(*) FROM {query}").fetchone()[0]

    kernels = count("COMPUTE_TASK_INFO")
    assert kernels > 10
    assert count("COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)") == kernels
    launches = "CANN_API JOIN STRING_IDS ON CANN_API.name = STRING_IDS.id WHERE value = 'launch' AND type = 10000"
    assert count(launches) == kernels
    # The wheel connects its operators with the launches.
    assert (
        count("PYTORCH_API JOIN CONNECTION_IDS ON PYTORCH_API.connectionId = CONNECTION_IDS.id")
        >= kernels
    )
    assert count("STEP_TIME") == STEPS
    shutil.rmtree(output)
