"""Instructions that small work takes, counted by callgrind: the same numbers whatever else the machine does.

As a program, it is the process that is counted: ``python instructions.py npu "view" 4000``.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.progress import track

REPEATS = 4000
# Valgrind knows no AVX-512, and no device of many GiB; one thread, since it runs one at a time.
ENVIRONMENT = {
    "SOFTNPU_CPU_CAPABILITY": "avx2",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "SOFTNPU_HBM": "1G",
    "OMP_NUM_THREADS": "1",
}


def _count(device: str, work: str) -> float:
    """Instructions of one call of ``work``; raises CalledProcessError where the counted process fails."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        counter = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
        program = [sys.executable, "-W", "ignore", __file__, device, work, str(REPEATS)]
        subprocess.run(
            [*counter, f"--callgrind-out-file={out}", *program],
            check=True,
            capture_output=True,
            env={**os.environ, **ENVIRONMENT},
        )
        total = re.search(r"^totals: (\d+)", out.read_text(), re.MULTILINE)
    assert total is not None, "callgrind wrote no total"
    return int(total[1]) / REPEATS


def measure(works: list[str]) -> list[tuple[str, float, float]]:
    """(work, instructions on npu, instructions on the CPU) of each of ``works``, keys of ``small_works``."""
    pairs = [(work, device) for work in works for device in ("npu", "cpu")]
    counts = [_count(device, work) for work, device in track(pairs, "instructions", transient=True)]
    return list(zip(works, counts[::2], counts[1::2], strict=True))


def _be_counted(device: str, work: str, repeats: int) -> None:
    from small import small_works

    run = small_works(device)[work]

    def switch(state: str) -> None:
        subprocess.run(
            ["callgrind_control", "-i", state, str(os.getpid())], check=True, capture_output=True
        )

    for _ in range(repeats):
        run()
    switch("on")
    for _ in range(repeats):
        run()
    switch("off")


if __name__ == "__main__":
    _be_counted(sys.argv[1], sys.argv[2], int(sys.argv[3]))
