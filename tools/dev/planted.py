"""`./dev quick --planted`: plants one fault at a time in the sources; `./dev quick` must fail for each."""

import subprocess
import time
from dataclasses import dataclass

from dev.build import build
from dev.files import changed_since
from dev.paths import ROOT
from dev.run import DevError, say


@dataclass(frozen=True)
class Fault:
    """A replacement in one file that compiles without an error."""

    kind: str
    path: str
    right: str
    wrong: str


FAULTS = (
    Fault(
        "runtime",
        "softnpu/runtime/stream/event.cpp",
        "if (generation == recorded_) time_ = Clock::now();",
        "if (generation != recorded_) time_ = Clock::now();",
    ),
    Fault(
        "operator kernel",
        "softnpu/ops/tensor/shape/triangle.cpp",
        "row + diagonal + 1, 0, columns",
        "row + diagonal + 2, 0, columns",
    ),
    Fault(
        "plug-in",
        "torch_npu/csrc/aten/arange.cpp",
        "op(check.device(), start, end, step, out);",
        "op(check.device(), start, end, start, out);",
    ),
    Fault(
        "Python",
        "torch_npu/npu/memory.py",
        '"reserved_bytes.all.peak"',
        '"reserved_bytes.all.current"',
    ),
    Fault(
        "codegen",
        "codegen/emit/aclnn.py",
        "if member.takes else",
        "if not member.takes else",
    ),
)


def _quick(fault: Fault) -> tuple[bool, float, str]:
    """Whether `./dev quick` failed with the fault planted, its seconds, and the first line about the failure."""
    file = ROOT / fault.path
    text = file.read_text()
    if text.count(fault.right) != 1:
        raise DevError(
            f"{fault.path}: {fault.right!r} is not there once; correct tools/dev/planted.py"
        )
    started = time.monotonic()
    try:
        file.write_text(text.replace(fault.right, fault.wrong))
        done = subprocess.run(
            [ROOT / "dev", "quick"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    finally:
        file.write_text(text)
    failures = [line for line in done.stdout.splitlines() if "FAILED" in line]
    lines = failures or done.stderr.splitlines() or ["nothing"]
    return done.returncode == 1, time.monotonic() - started, lines[0][:90]


def planted() -> None:
    """Plants each fault, prints the check that found it, and rebuilds the original sources.

    Raises DevError if the checkout has uncommitted changes, or if a fault was not found.
    """
    if changes := changed_since("HEAD"):
        raise DevError(f"faults are planted in a checkout without changes; {changes[0]} has some")
    missed = []
    for fault in FAULTS:
        found, seconds, words = _quick(fault)
        missed += [] if found else [fault.kind]
        say(f"{fault.kind:16} {'found' if found else 'MISSED'} in {seconds:.0f} s: {words}")
    build()
    if missed:
        raise DevError(f"not found: {', '.join(missed)}")
