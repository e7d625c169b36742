"""Peak memory of a process: ResNet-50 on npu against the same on the CPU, and HF32 allowed against forbidden.

Each is a process of its own: ``python memory.py npu 8 trained,last,exact``, where ``exact`` forbids HF32. It prints the bytes by which its resident memory grew at most
since torch was there: model, images, activations, gradients, and whatever a library keeps.
"""

import subprocess
import sys
from pathlib import Path

import torch
from results import Measured
from rich.progress import track

# Work -> batch, and the ways of each process: trained, channels last.
WORK = {
    "one image": (1, "", ""),
    "8 images": (8, "", ""),
    "32 images": (32, "", ""),
    "training step of 8": (8, "trained", "trained"),
    "8 images, channels_last": (8, "last", ""),
    "32 images, channels_last": (32, "last", ""),
    "training step of 8, channels_last": (8, "trained,last", "trained"),
}


def _status(key: str) -> int:
    """Bytes by a line of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(key + ":"))


def _grown(device: str, batch: int, ways: str) -> int:
    from networks import resnet

    torch.ones(1, device=device)
    before = _status("VmRSS")
    order = torch.channels_last if "last" in ways else torch.contiguous_format
    if device == "npu":
        torch.npu.conv.allow_hf32 = "exact" not in ways
    work = resnet(device, batch, "trained" in ways, order)
    for _ in range(3):
        work()
    if device == "npu":
        torch.npu.synchronize()
    return _status("VmHWM") - before


def _in_a_process(device: str, batch: int, ways: str) -> float:
    command = [sys.executable, "-W", "ignore", __file__, device, str(batch), ways]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure() -> list[Measured]:
    """MiB of each network against the CPU's plain way, and with HF32 allowed against forbidden."""
    measured = []
    mib = 1 << 20
    for name, (batch, npu_ways, cpu_ways) in track(
        WORK.items(), description="memory", transient=True
    ):
        npu = _in_a_process("npu", batch, npu_ways)
        exact_ways = ",".join(filter(None, (npu_ways, "exact")))
        others = {
            "cpu": _in_a_process("cpu", batch, cpu_ways),
            "npu, allow_hf32=False": _in_a_process("npu", batch, exact_ways),
        }
        measured += [
            Measured(
                "memory", f"ResNet-50, {name}", against, npu / mib, other / mib, npu / other, "MiB"
            )
            for against, other in others.items()
        ]
    return measured


if __name__ == "__main__":
    print(_grown(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
