"""Kernels that the tests of this folder share, compiled once."""

import subprocess
import sys
from pathlib import Path

import pytest

from torch_npu.ascendc.compiler import Options, build

HERE = Path(__file__).parent
KERNELS = HERE / "kernels" / "vectors.asc"


@pytest.fixture(scope="session")
def vectors(tmp_path_factory) -> Path:
    """The library of kernels/vectors.asc; beside it the headers of its kernels."""
    folder = tmp_path_factory.mktemp("vectors")
    output = folder / "libvectors.so"
    build(Options((KERNELS,), ("-O1",), header_folder=folder), output)
    return output


@pytest.fixture(scope="session")
def driver():
    """Runs the command in a process that has no torch."""
    folder = Path(sys.modules["torch_npu.ascendc"].__file__).parent

    def run(*arguments, env=None, cwd=None):
        return subprocess.run(
            [sys.executable, "-S", str(folder), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env=env,
            cwd=cwd,
        )

    return run
