"""The recipe "A function of `torch.npu`", followed in a copy."""

import json
import re
import subprocess
import sys

import fresh
import pytest

from recipes.compiler import PLUGIN, errors
from recipes.recipe import ROOT, Copy, steps

BINDING, FUNCTION, NAME, TEST = steps("A function of `torch.npu`")
# Calls the function of the copy. It has no native part: the function that module.cpp binds is replaced by one that
# returns 2.
CALL = """
import json, sys, types
package = types.ModuleType("torch_npu")
package.__path__ = [sys.argv[1] + "/torch_npu"]
sys.modules["torch_npu"] = package
from torch_npu import npu
from torch_npu._core import state
bound = json.loads(sys.argv[2])
state.attach(types.SimpleNamespace(**{name: lambda: 2 for name in bound}), "")
print(npu.get_sync_debug_mode(), "get_sync_debug_mode" in npu.__all__)
"""


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path, (BINDING, FUNCTION, NAME, TEST), "torch_npu", "pyproject.toml")


def call(copy):
    bound = re.findall(r'm\.def\(\s*"(\w+)"', copy.read(BINDING.path))
    return fresh.run(CALL, str(copy.folder), json.dumps(bound), TORCH_DEVICE_BACKEND_AUTOLOAD="0")


def ruff(copy):
    command = [sys.executable, "-m", "ruff", "check", "--output-format", "concise", "torch_npu"]
    done = subprocess.run(command, cwd=copy.folder, capture_output=True, text=True, check=False)
    return done.stdout


def test_the_function_is_a_name_of_torch_npu(copy):
    imported, listed = NAME.rows
    assert "cannot import name 'get_sync_debug_mode'" in call(copy).stderr
    copy.follow(FUNCTION)
    copy.follow(imported, before="    get_task_queue_enable,")
    assert "adding to `__all__`" in ruff(copy)
    copy.follow(listed, before='    "get_task_queue_enable",')
    assert "All checks passed!" in ruff(copy)
    assert "has no attribute 'sync_debug_mode'" in call(copy).stderr
    copy.follow(BINDING, before='  m.def("soc_name"')
    assert call(copy).stdout == "2 True\n"


@pytest.mark.parametrize(
    ("part", "refused"),
    [
        (" -> int", "ANN201"),
        ('    """The mode of :func:`set_sync_debug_mode`: 0, 1 or 2."""\n', "D103"),
    ],
    ids=["type", "docstring"],
)
def test_ruff_refuses_a_function_without(copy, part, refused):
    copy.follow(FUNCTION)
    path = copy.folder / FUNCTION.path
    before, name, function = path.read_text().rpartition("def get_sync_debug_mode")
    path.write_text(before + name + function.replace(part, ""))
    assert refused in ruff(copy)


def test_the_binding_compiles(copy):
    copy.follow(BINDING, before='  m.def("soc_name"')
    include = (copy.folder / "torch_npu/csrc", ROOT / "softnpu/include")
    assert errors(copy.folder / BINDING.path, include, *PLUGIN) == ""


def test_the_reference_lists_the_module():
    assert "```{eval-rst}\n.. automodule:: torch_npu.npu\n" in (ROOT / "docs/api.md").read_text()
