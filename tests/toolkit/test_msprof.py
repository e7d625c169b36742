"""msprof: what it makes of profiles of softnpu, and what it says about damaged ones. It is run as a program."""

import csv
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from torch_npu import softnpu

PROGRAM = """
import torch
import torch_npu
x = torch.randn(64, 64).npu()
for _ in range(5):
    y = (x @ x).relu()
total = y.sum().item()
"""


def msprof(*arguments: object) -> subprocess.CompletedProcess[str]:
    program = softnpu.lib_dir().parents[1] / "cann" / "tools" / "profiler" / "bin" / "msprof"
    environment = {**os.environ, "MSPROF_PYTHON": sys.executable}
    return subprocess.run(
        [program, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def profile(tmp_path_factory) -> Path:
    """The folder of a profile that msprof collected and exported."""
    folder = tmp_path_factory.mktemp("profiles")
    done = msprof(f"--output={folder}", "--application", f"{sys.executable} -c '{PROGRAM}'")
    assert done.returncode == 0, done.stderr
    (result,) = folder.glob("PROF_*")
    assert re.fullmatch(r"PROF_\d{6}_\d{17}_\w+", result.name)
    return result


def table(profile: Path, name: str) -> list[dict[str, str]]:
    (path,) = (profile / "mindstudio_profiler_output").glob(f"{name}_[0-9]*.csv")
    with path.open() as file:
        return list(csv.DictReader(file))


def test_operators_of_a_program(profile):
    operators = table(profile, "op_summary")
    names = [row["Op Name"] for row in operators]
    assert names.count("aclnnMm_MatMulV2") == 5
    assert names.count("aclnnRelu_Relu") == 5
    product = next(row for row in operators if row["OP Type"] == "MatMulV2")
    assert product["Input Shapes"].strip('"') == "64,64;64,64"
    assert product["Output Data Types"] == "FLOAT"
    assert product["Task Type"] == "AI_CORE"
    shares = [float(row["Ratio(%)"]) for row in table(profile, "op_statistic")]
    assert sum(shares) == pytest.approx(100, abs=0.001 * len(shares))
    calls = {row["API Name"]: int(row["Count"]) for row in table(profile, "api_statistic")}
    assert calls["aclnnMm"] == 5


def test_runs_of_a_stream_do_not_overlap(profile):
    runs = sorted(
        (float(row["task_start(us)"]), float(row["task_stop(us)"]))
        for row in table(profile, "task_time")
    )
    assert len(runs) > 10
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(runs))


def test_every_flow_of_the_timeline_is_bound_at_both_ends(profile):
    (path,) = (profile / "mindstudio_profiler_output").glob("msprof_*.json")
    events = json.loads(path.read_text())
    slices = [event for event in events if event["ph"] == "X"]
    ends: dict[str, list[dict]] = {}
    for event in events:
        if event.get("cat") == "HostToDevice":
            ends.setdefault(event["id"], []).append(event)
    assert len(ends) > 10
    for id_, flow in ends.items():
        assert {event["ph"] for event in flow} == {"s", "f"}, id_
        for event in flow:
            time = float(event["ts"])
            assert any(
                (one["pid"], one["tid"]) == (event["pid"], event["tid"])
                and float(one["ts"]) <= time <= float(one["ts"]) + one["dur"] + 0.001
                for one in slices
            ), event


def test_database(profile):
    done = msprof("--export=on", "--type=db", f"--output={profile}")
    assert done.returncode == 0, done.stderr
    (path,) = profile.glob("msprof_*.db")
    database = sqlite3.connect(path)
    query = (
        "SELECT value, COUNT(*) FROM COMPUTE_TASK_INFO JOIN STRING_IDS ON name = id GROUP BY value"
    )
    counts = dict(database.execute(query).fetchall())
    assert counts["aclnnMm_MatMulV2"] == 5


def test_a_profile_of_a_killed_program_is_read_as_far_as_it_was_written(profile, tmp_path):
    (folder := tmp_path / "PROF_000001_killed" / "host" / "data").mkdir(parents=True)
    for name in ("start_info", "sample.json"):
        (folder.parent / name).write_bytes((profile / "host" / name).read_bytes())
    records = (profile / "host" / "data" / "softnpu.records").read_bytes()
    (folder / "softnpu.records").write_bytes(records[:-13])
    texts = (profile / "host" / "data" / "softnpu.texts").read_bytes()
    (folder / "softnpu.texts").write_bytes(texts[:-3])
    done = msprof("--export=on", f"--output={folder.parents[1]}")
    assert done.returncode == 0, done.stderr
    written, whole = table(folder.parents[1], "op_summary"), table(profile, "op_summary")
    assert whole[: len(written)] == written
    assert len(written) >= len(whole) - 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("no folder", "is no folder"),
        ("start_info", "start_info: is damaged"),
        ("sample.json", "sample.json: is damaged"),
        ("softnpu.records", "holds no records of softnpu"),
    ],
)
def test_a_damaged_profile_is_one_sentence(profile, tmp_path, damage, message):
    folder = tmp_path / "PROF_000001_damaged"
    if damage != "no folder":
        (folder / "host" / "data").mkdir(parents=True)
        for path in (profile / "host").rglob("*"):
            if path.is_file():
                target = folder / "host" / path.relative_to(profile / "host")
                target.write_bytes(b"{garbage" if path.name == damage else path.read_bytes())
    done = msprof("--export=on", f"--output={folder}")
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_program_without_work_on_an_npu_is_named(tmp_path):
    done = msprof(f"--output={tmp_path}", "--application", "true")
    assert done.returncode == 1
    assert "true: did no work on an NPU" in done.stderr
    done = msprof(f"--output={tmp_path}", "--application", "/no/such/program")
    assert done.returncode == 1
    assert "/no/such/program: cannot be run" in done.stderr


def test_help_names_what_the_official_plugin_looks_for():
    done = msprof("--help")
    assert done.returncode == 0
    assert "--type" in done.stdout
    assert msprof().returncode == 2
