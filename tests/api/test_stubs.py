"""The types of torch_npu._C are those of the module that was built."""

import shutil
import subprocess
import sys

import pytest
from dev import stubs
from dev.paths import ROOT

# Reading PyTorch's own types takes half a minute and says nothing about these.
CONFIGURATION = "[mypy]\n[mypy-torch.*]\nfollow_imports = skip\n"
# What pybind11 does to every class: a metaclass, and a constructor that raises where none is bound.
ALLOWED = """
torch_npu._C.GeneratedKernel
torch_npu._C.GeneratedKernel.__init__
torch_npu._C._BuiltGraph
torch_npu._C._NPUGraph
torch_npu._C._NPUTaskGroupHandle
torch_npu._C._NPUTaskGroupHandle.__init__
torch_npu._C._distributed_c10d.ProcessGroupHCCL
torch_npu._C._distributed_c10d.ProcessGroupHCCL.Options
"""


@pytest.fixture
def copy(tmp_path):
    """A folder with the stubs alone: the rest of the package is not compared."""
    package = tmp_path / "torch_npu"
    shutil.copytree(ROOT / stubs.STUBS, package / "_C")
    (package / "__init__.pyi").touch()
    (tmp_path / "mypy.ini").write_text(CONFIGURATION)
    (tmp_path / "allowed").write_text(ALLOWED)
    return tmp_path


def stubtest(folder):
    options = ["--mypy-config-file", "mypy.ini", "--allowlist", "allowed"]
    command = [sys.executable, "-m", "mypy.stubtest", *options, "torch_npu._C"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_stubs_are_what_the_generator_writes(tmp_path):
    written = {file.name: file.read_text() for file in (ROOT / stubs.STUBS).glob("*.pyi")}
    assert written == stubs.generated(tmp_path), "run ./dev stubs"


def test_stubs_agree_with_the_module(copy):
    done = stubtest(copy)
    assert done.returncode == 0, done.stdout
    assert "no issues found in 2 modules" in done.stdout


@pytest.mark.parametrize(
    ("file", "right", "wrong", "found"),
    [
        (
            "__init__.pyi",
            "def synchronize(",
            "def synchronise(",
            "torch_npu._C.synchronise is not present",
        ),
        (
            "_distributed_c10d.pyi",
            "def end_process_groups(",
            "def end_groups(",
            "torch_npu._C._distributed_c10d.end_groups is not present",
        ),
    ],
)
def test_a_wrong_stub_is_found(copy, file, right, wrong, found):
    stub = copy / stubs.STUBS / file
    assert stub.read_text().count(right) == 1
    stub.write_text(stub.read_text().replace(right, wrong))
    done = stubtest(copy)
    assert done.returncode == 1
    assert found in done.stdout
