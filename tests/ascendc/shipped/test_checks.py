"""Shipped kernels in checked mode: no report as they are, one where a line that orders pipes is left out."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import torch_npu

from .calls import CALLS
from .needless import NEEDLESS

KERNELS = Path(torch_npu.__file__).parent / "ascendc" / "kernels"
PROGRAM = Path(__file__).with_name("calls.py")
SCHEDULES = ["eager", "late", *(f"seed:{seed}" for seed in range(20))]
ORDERS = re.compile(
    r"\b(EnQue|FreeTensor|SyncAll|Reset)\(|\b(SetFlag|set_flag)\b|PipeBarrier<PIPE_ALL>"
)


def _outputs(kernel: str, *variants: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), kernel, *variants],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _lines(kernel: str) -> list[tuple[str, str, int, str]]:
    """Kernel, file, number and text of each line that orders pipes; equal ones of a file have #2, #3, …"""
    found = []
    shared = [KERNELS / "rows.h"] if kernel == "rms_norm" else []
    for file in sorted(
        [*shared, *(KERNELS / kernel).glob("*.asc"), *(KERNELS / kernel).glob("*.h")]
    ):
        texts: dict[str, int] = {}
        for number, line in enumerate(file.read_text().splitlines(), 1):
            text = line.strip()
            if text.startswith("//") or not ORDERS.search(text):
                continue
            texts[text] = texts.get(text, 0) + 1
            more = f" #{texts[text]}" if texts[text] > 1 else ""
            found.append((kernel, file.name, number, text + more))
    return found


LINES = [line for kernel in CALLS for line in _lines(kernel)]


@pytest.mark.parametrize("kernel", CALLS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_there_is_no_report_in_any_order(kernel, schedule):
    (output,) = _outputs(kernel, f"CHECK=1,SCHEDULE={schedule}")
    assert not output.strip()


@pytest.mark.parametrize(
    ("kernel", "file", "number", "text"), LINES, ids=[f"{file}:{n}" for _, file, n, _ in LINES]
)
def test_leaving_a_line_out_is_reported(kernel, file, number, text):
    (output,) = _outputs(kernel, f"CHECK=1,DROP={file}:{number}")
    is_needless = text in NEEDLESS.get(file, {})
    assert ("=========" in output) != is_needless, (text, output[:500])
