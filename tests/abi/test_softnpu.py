"""`python -m torch_npu.softnpu`: for programs with their own CANN application."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torch_npu.softnpu", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
    )


def test_the_folder_has_the_libraries():
    printed = run("--lib-dir")
    assert printed.returncode == 0, printed.stderr
    folder = Path(printed.stdout.strip())
    assert folder.is_absolute()
    library = ctypes.CDLL(str(folder / "libascendcl.so"))
    library.softnpuVersion.restype = ctypes.c_char_p
    assert library.softnpuVersion().startswith(b"softnpu ")


def test_a_wrong_option_is_refused():
    assert run().returncode == 2
    assert "--lib-dir" in run().stderr
