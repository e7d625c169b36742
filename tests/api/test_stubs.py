"""The types of torch_npu._C are those of the module that was built."""

import subprocess
import sys

import pytest
from dev import stubs
from dev.paths import ROOT

# Reading PyTorch's own types takes half a minute and says nothing about these.
CONFIGURATION = "[mypy]\n[mypy-torch.*]\nfollow_imports = skip\n"


def stubtest(folder, configuration):
    configuration.write_text(CONFIGURATION)
    options = ["--mypy-config-file", str(configuration)]
    modules = ["torch_npu._C", "torch_npu._C._distributed_c10d"]
    command = [sys.executable, "-m", "mypy.stubtest", *options, *modules]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_stubs_are_what_the_generator_writes(tmp_path):
    written = {file.name: file.read_text() for file in (ROOT / stubs.STUBS).glob("*.pyi")}
    assert written == stubs.generated(tmp_path), "run ./dev stubs"


def test_stubs_agree_with_the_module(tmp_path):
    done = stubtest(ROOT, tmp_path / "mypy.ini")
    assert done.returncode == 0, done.stdout
    assert "no issues found in 2 modules" in done.stdout


@pytest.mark.parametrize(
    ("right", "wrong", "found"),
    [
        ("def synchronize(", "def synchronise(", "torch_npu._C.synchronise is not present"),
        ("package: typing", "module: typing", 'stub argument "module" differs'),
    ],
)
def test_a_wrong_stub_is_found(tmp_path, right, wrong, found):
    package = tmp_path / "torch_npu"
    (package / "_C").mkdir(parents=True)
    (package / "__init__.pyi").write_text("")
    (package / "py.typed").write_text("")
    for file in (ROOT / stubs.STUBS).glob("*.pyi"):
        (package / "_C" / file.name).write_text(file.read_text())
    stub = package / "_C" / "__init__.pyi"
    assert stub.read_text().count(right) == 1
    stub.write_text(stub.read_text().replace(right, wrong))
    done = stubtest(tmp_path, tmp_path / "mypy.ini")
    assert done.returncode == 1
    assert found in done.stdout
