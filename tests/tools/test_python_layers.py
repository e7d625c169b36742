"""The layers of the Python package: an import against them is an error, in a copy of the package."""

import shutil

import pytest
from dev.paths import ROOT, VENV
from dev.run import DevError, run

CONTRACTS = ".importlinter"


def python_layers(root):
    """Checks the imports of the package in ``root``, as the hook of .pre-commit-config.yaml does."""
    run([VENV / "bin" / "lint-imports", "--no-logo", "--no-cache", CONTRACTS], cwd=root, quiet=True)


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(
        ROOT / "torch_npu", tmp_path / "torch_npu", ignore=shutil.ignore_patterns("csrc", "*.asc")
    )
    shutil.copy(ROOT / CONTRACTS, tmp_path)
    return tmp_path


def plant(root, path, line):
    file = root / "torch_npu" / path
    file.write_text(file.read_text() + line + "\n")


def test_the_package_is_in_layers(copy):
    python_layers(copy)


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        ("_core/state.py", "from torch_npu.npu import memory", "torch_npu._core is not allowed"),
        ("_core/state.py", "from torch_npu._core import devices", "_core.state is not allowed"),
        ("npu/soc.py", "def late():\n    from torch_npu.utils import doctor", "npu is not allowed"),
        ("utils/affinity.py", "import torch_npu", "torch_npu.utils is not allowed"),
        ("npu/soc.py", "from torch_npu.ascendc import text", "torch_npu.npu is not allowed"),
        ("ascendc/binary.py", "import torch", "torch_npu.ascendc.binary is not allowed"),
        ("npu/_receivers.py", "from torch_npu.npu import memory", "No cycles are allowed"),
    ],
    ids=["core", "within-core", "in-a-function", "root", "neighbour", "driver", "cycle"],
)
def test_an_import_against_the_layers_is_found(copy, capsys, path, line, found):
    plant(copy, path, line)
    with pytest.raises(DevError, match="exit code 1"):
        python_layers(copy)
    assert found in capsys.readouterr().out


def test_a_module_without_a_layer_is_found(copy, capsys):
    (copy / "torch_npu" / "_new.py").write_text("")
    with pytest.raises(DevError):
        python_layers(copy)
    assert "_new" in capsys.readouterr().out
