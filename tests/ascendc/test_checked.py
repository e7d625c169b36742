"""Checked mode of kernels that PyTorch launches."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = Path(__file__).parent / "kernels" / "race.asc"
PROGRAM = """
import torch
import torch_npu
from torch_npu.utils.cpp_extension import load_ascendc

unordered = load_ascendc(
    "checked",
    {kernel!r},
    "unordered(Tensor x) -> Tensor",
    launch=lambda x, y: (1, (x, y, x.numel())),
    extra_cflags=("-O1",),
    build_directory={folder!r},
)
x = torch.ones(256).npu()

def step():
    return unordered(x)

step()
try:
    torch.npu.synchronize()
    print("no error")
except RuntimeError as error:
    print("ERROR", error)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs the program with these variables; its output and its errors."""
    folder = tmp_path_factory.mktemp("checked")
    program = folder / "program.py"
    program.write_text(PROGRAM.format(kernel=str(KERNEL), folder=str(folder / "built")))

    def start(**variables: str) -> str:
        names = ("SOFTNPU_KERNEL_CHECK", "SOFTNPU_KERNEL_SCHEDULE")
        environment = {k: v for k, v in os.environ.items() if k not in names} | variables
        result = subprocess.run(
            [sys.executable, str(program)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout + result.stderr

    return start


def test_a_race_is_an_error_with_the_lines_of_kernel_and_program(run):
    line = PROGRAM.splitlines().index("    return unordered(x)") + 1
    text = run(SOFTNPU_KERNEL_CHECK="1")
    assert (
        "========= racecheck: DataCopy on pipe MTE3 reads what DataCopy on pipe MTE2 writes" in text
    )
    assert "kernel unordered, block 0, DataCopy on pipe MTE3, race.asc:14" in text
    assert "other access: DataCopy on pipe MTE2, race.asc:13" in text
    assert f"program.py:{line}" in text
    assert "ERROR" in text
    assert "no error" not in text


def test_without_checks_there_is_no_report(run):
    text = run()
    assert "=========" not in text
    assert "no error" in text


def test_a_bad_value_is_an_error_of_the_launch(run):
    text = "SOFTNPU_KERNEL_CHECK=memchek is not understood: it takes 1, or some of memcheck"
    with pytest.raises(AssertionError, match=f"unordered was not launched: .*{text}"):
        run(SOFTNPU_KERNEL_CHECK="memchek")
