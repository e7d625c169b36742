"""torch.npu.utilization and similar functions, and npu-smi: they read the same pages of the same processes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import torch_npu.softnpu

FOLDER = Path(torch_npu.softnpu.lib_dir()).parents[1] / "cann" / "bin"
HELD = 256 << 20

HOLD = f"""
import sys, time, torch
x = torch.empty({HELD}, dtype=torch.uint8, device="npu:" + sys.argv[1])
a = torch.ones(256, 256, device=x.device)
print("ready", flush=True)
while True:
    if sys.argv[2] == "busy": (a @ a).cpu()
    else: time.sleep(1)
"""


def smi(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FOLDER / "npu-smi", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )


def device(number: int, **env: str) -> dict:
    answer = smi("info", "--json", **env)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)["devices"][number]


def memory_of(pid: int, number: int) -> int | None:
    """What npu-smi says that a process holds on a device; None if it does not list it."""
    found = [p for p in device(number)["processes"] if p["pid"] == pid]
    return found[0]["memory_bytes"] if found else None


@pytest.fixture
def holder(request):
    """A program that holds 256 MB on device 1 of 2."""
    mode = getattr(request, "param", "idle")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, "1", mode],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SOFTNPU_DEVICE_COUNT": "2", "SOFTNPU_HBM": "1G"},
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_a_process_is_listed_until_it_is_killed(holder):
    assert memory_of(holder.pid, 1) >= HELD
    assert memory_of(holder.pid, 0) in (None, 0)
    rows = [row.split() for row in smi("info").stdout.splitlines()]
    own = [row for row in rows if len(row) > 5 and row[4] == str(holder.pid)]
    assert max(int(row[8]) for row in own) >= HELD >> 20
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert memory_of(holder.pid, 0) is None
    assert str(holder.pid) not in smi("info").stdout


@pytest.mark.parametrize("holder", ["busy"], indirect=True)
def test_a_busy_device_has_a_load(holder):
    used = [p for p in device(1)["processes"] if p["pid"] == holder.pid]
    assert used[0]["utilization_percent"] > 0
    assert device(1)["modelled"]["power_w"] > 90


def test_a_forked_child_is_not_listed():
    """It has its parent's descriptors, and cannot use the device."""
    torch.zeros(1, device="npu")
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    try:
        assert memory_of(child, 0) is None
        assert memory_of(os.getpid(), 0) is not None
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a program as another user")
def test_processes_of_other_users_are_not_shown(holder):
    other = subprocess.run(
        [FOLDER.parents[1] / "lib" / "softnpu_smi", "info", "--json"],
        capture_output=True,
        text=True,
        check=False,
        user=65534,
        env={"PATH": os.environ["PATH"]},
    )
    if other.returncode == 126 or "Permission" in other.stderr:
        pytest.skip("another user cannot read the build folder")
    assert other.returncode == 0, other.stderr
    assert str(holder.pid) not in other.stdout


# Writes pages that are truncated, empty or full of random bytes, under the names that npu-smi looks for.
HOSTILE = """
import fcntl, os, random, sys
content = bytes.fromhex(sys.argv[1])
ours = []
for size in (0, 1, 64, 1088, 1152, 4096):
    for seal in (False, True):
        for start in (b"", content):
            fd = os.memfd_create("softnpu-status", os.MFD_ALLOW_SEALING)
            data = start + random.randbytes(size)
            os.write(fd, data[:size])
            if seal: fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
            ours.append(fd)
print("ready", flush=True)
sys.stdin.read()
"""


def test_hostile_pages_are_skipped():
    magic = (0x7375746174736E73).to_bytes(8, "little")
    for seed in range(3):
        start = magic + (1).to_bytes(4, "little")
        with subprocess.Popen(
            [sys.executable, "-c", f"import random; random.seed({seed})\n" + HOSTILE, start.hex()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout.readline() == "ready\n"
            answer = smi("info", "--json")
            assert answer.returncode == 0, answer.stderr
            devices = json.loads(answer.stdout)["devices"]
            listed = {each["pid"] for one in devices for each in one["processes"]}
            assert process.pid not in listed
            process.stdin.close()


@pytest.mark.api(
    "torch.npu.utilization",
    "torch.npu.memory_usage",
    "torch.npu.temperature",
    "torch.npu.power_draw",
    "torch.npu.clock_rate",
)
def agree(read, seen) -> None:
    """Two readings are equal once: other programs of this machine may change the load between them."""
    for _ in range(20):
        pair = read(), seen()
        if pair[0] == pair[1]:
            return
        time.sleep(0.3)
    assert pair[0] == pair[1]


def test_the_functions_agree_with_npu_smi():
    def share():
        one = device(0)
        return 100 * one["memory_used_bytes"] // one["memory_total_bytes"]

    held = torch.empty(HELD, dtype=torch.uint8, device="npu")
    assert held.nbytes <= device(0)["memory_used_bytes"]
    agree(torch.npu.memory_usage, share)
    assert torch.npu.memory_usage() > 0
    time.sleep(2.1)  # then the load is measured anew
    matrix = torch.ones(1024, 1024, device="npu")
    loads = []
    for _ in range(5):
        for _ in range(3):
            matrix = matrix @ matrix * 0
        loads.append(torch.npu.utilization())
    assert max(loads) > 0
    torch.npu.synchronize()
    time.sleep(2.1)
    agree(torch.npu.temperature, lambda: device(0)["modelled"]["temperature_c"])
    agree(torch.npu.power_draw, lambda: round(1000 * device(0)["modelled"]["power_w"]))
    agree(torch.npu.clock_rate, lambda: device(0)["modelled"]["core_mhz"])


@pytest.mark.parametrize(
    "name", ["utilization", "memory_usage", "temperature", "power_draw", "clock_rate"]
)
def test_a_device_that_does_not_exist_is_refused(name):
    with pytest.raises(AssertionError, match="Invalid device id: npu:99"):
        getattr(torch.npu, name)(99)


def test_two_chips_are_an_npu_of_an_a3():
    text = smi("info", SOFTNPU_SOC="Ascend910_9391", SOFTNPU_DEVICE_COUNT="3").stdout.splitlines()
    assert {len(line) for line in text} == {98}
    rows = [line.split() for line in text[6:14] if line.startswith("| ")]
    # NPU, name, health, power; chip, physical number.
    assert [row[1] for row in rows[::2]] == ["0", "0", "1"]
    assert [row[2] for row in rows[::2]] == ["Ascend910"] * 3
    assert [row[6] == "-" for row in rows[::2]] == [False, True, False]
    assert [row[1:3] for row in rows[1::2]] == [["0", "0"], ["1", "1"], ["0", "2"]]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("board", "Model                          : Ascend910B1"),
        ("common", "Aicore Usage Rate(%)"),
        ("health", "Health                         : OK"),
        ("memory", "HBM Capacity(MB)               : 512"),
        ("power", "Power Dissipation(W)           : "),
        ("proc-info", "Process memory(MB)"),
        ("proc-mem", "No process in device."),
        ("product", "Product Type                   : softnpu"),
        ("temp", "NPU Temperature (C)            : "),
        ("topo", "NPU3    SYS     SYS     SYS     X"),
        ("usages", "NPU Utilization(%)             : "),
    ],
)
def test_every_type_answers(kind, line):
    # Device 3: no other test of this machine uses it.
    chosen = [] if kind in ("topo", "proc-info") else ["-i", "3", "-c", "0"]
    answer = smi(
        "info", "-t", kind, *chosen, SOFTNPU_SOC="Ascend910B1", SOFTNPU_DEVICE_COUNT="4", SOFTNPU_HBM="512M"
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert line in answer.stdout


def test_lists_and_rows():
    env = {"SOFTNPU_SOC": "Ascend910B3", "SOFTNPU_DEVICE_COUNT": "2"}
    listed = smi("info", "-l", **env).stdout
    # Other programs of this machine may have more devices.
    (count,) = re.findall(r"Total Count +: (\d+)", listed)
    assert int(count) == listed.count("NPU ID") >= 2
    assert "Ascend 910B3" in smi("info", "-m", **env).stdout
    watched = smi("info", "watch", "-i", "1", "-d", "1", "-n", "2", **env).stdout.splitlines()
    assert [row.split()[0] for row in watched] == ["NpuID", "1", "1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is no command: npu-smi info, or npu-smi --help"),
        (["set"], "'set' is no command of softnpu's"),
        (["info", "-x"], "npu-smi info knows no '-x'"),
        (["info", "-t"], "-t needs a value behind it"),
        (["info", "-t", "what"], "-t 'what' is none of board, common"),
        (["info", "-i", "one"], "-i takes a whole number from 0, not 'one'"),
        (["info", "-i", "15", "-c", "3"], "there is no NPU 15 with chip 3: npu-smi info -m lists them"),
    ],
)  # fmt: skip
def test_bad_arguments_are_explained(arguments, message):
    answer = smi(*arguments, SOFTNPU_DEVICE_COUNT="1")
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert message in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_malformed_variable_is_explained():
    answer = smi("info", SOFTNPU_DEVICE_COUNT="many")
    assert answer.returncode == 1
    assert "SOFTNPU_DEVICE_COUNT=many" in answer.stderr
