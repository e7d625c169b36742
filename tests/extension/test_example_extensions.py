"""The examples of C++ extensions are built as their files say, and run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from extension.building import run_setup

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RESULT_OF_ACLNN = [
    "True",
    "True",
    "(2, 3)",
    "aclnnSilu: not defined for int32 values: (int32[3], int32[3]) [error 161002]",
]


def copied(name, folder):
    """A copy of the example, so that the build writes nothing into the checkout."""
    return Path(shutil.copytree(EXAMPLES / name, folder / name))


def run(folder, *arguments):
    """The lines that run.py prints."""
    done = subprocess.run(
        [sys.executable, "run.py", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_aclrt(tmp_path):
    folder = copied("npu_extension_aclrt", tmp_path)
    run_setup(folder)
    assert run(folder) == ["cpu True", "add takes contiguous CPU tensors"]


def test_aclnn(tmp_path):
    folder = copied("npu_extension_aclnn", tmp_path)
    run_setup(folder)
    assert run(folder) == RESULT_OF_ACLNN


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_aclnn_by_cmake(tmp_path):
    folder = copied("npu_extension_aclnn", tmp_path)
    printed = subprocess.run(
        [sys.executable, "-m", "torch_npu.softnpu", "--cmake-dir"],
        capture_output=True,
        text=True,
        check=True,
    )
    prefix = f"{torch.utils.cmake_prefix_path};{printed.stdout.strip()}"
    configure = ["cmake", "-S", folder, "-B", tmp_path / "built", "-DCMAKE_BUILD_TYPE=Debug"]
    for command in (
        [*configure, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"],
        ["cmake", "--build", tmp_path / "built"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
    assert run(folder, tmp_path / "built" / "npu_extension_aclnn.so") == RESULT_OF_ACLNN
