"""The recipe "An operator of `npu`", followed in a copy."""

import sys
from runpy import run_path
from types import SimpleNamespace

import pytest
import torch

from codegen import parse, support
from codegen.__main__ import custom_files
from codegen.emit import python
from codegen.official import without_entry
from recipes.compiler import PLUGIN, errors
from recipes.recipe import OPERATORS, ROOT, Copy, steps
from softnpu.opgen import __main__ as opgen
from torch_npu import accuracy

ENTRY, OUTPUTS, CASES = steps("An operator of `npu`")
NAMES = {"npu_swiglu", "npu_swiglu_backward"}
FIRST = "  - func: npu_swiglu_backward("


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path, (ENTRY, OUTPUTS, CASES), *OPERATORS)


def operators(copy):
    index = copy.folder / OPERATORS[0]
    return parse.custom_operators(parse.read_settings(index, parse.native_functions()))


def official_schemas():
    return parse.read_settings(ROOT / OPERATORS[0], parse.native_functions()).schemas


def names(copy):
    return {o.name for o in operators(copy)}


def test_the_entry_defines_and_registers_the_operator(copy):
    assert names(copy) & NAMES == {"npu_swiglu_backward"}
    copy.follow(ENTRY, before=FIRST)
    found = [o for o in operators(copy) if o.name in NAMES]
    files = custom_files(found, "at_npu::native")
    schema = 'define(R"(npu_swiglu(Tensor input, int dim=-1) -> Tensor)");'
    assert schema in files["CustomRegisterSchema.cpp"]
    for kernel in ("run", "meta"):
        assert f'm.impl("npu_swiglu", &op_npu_swiglu::{kernel});' in files["CustomKernels.cpp"]
    assert 'm.impl("npu_swiglu", ' in files["CustomAutograd.cpp"]
    text = python.python(found)
    assert "npu_swiglu(input: Tensor, dim: int = -1) -> Tensor" in text["custom_ops.py"]
    assert '"npu_swiglu"' in text["exposed_api.py"]
    assert "| `npu_swiglu` | yes |\n" in support.custom(found)


def test_a_gradient_without_an_entry_is_named(copy):
    copy.follow(ENTRY, before=FIRST)
    yaml = copy.folder / ENTRY.path
    yaml.write_text(yaml.read_text().replace("func: npu_swiglu_backward(", "func: npu_other("))
    with pytest.raises(parse.ParseError, match="there is no entry 'npu::npu_swiglu_backward'"):
        operators(copy)


def test_the_outputs_are_a_function_of_shapes(copy):
    copy.follow(ENTRY, before=FIRST)
    source = copy.folder / "CustomKernels.cpp"
    found = [o for o in operators(copy) if o.name in NAMES]
    files = custom_files(found, "at_npu::native")
    for name in ("CustomKernels.cpp", "custom_kernels.h"):
        (copy.folder / name).write_text(files[name])
    tables = map(str, sorted((ROOT / "softnpu/ops").glob("*/*/operators.txt")))
    assert opgen.main(["--output", str(copy.folder / "opgen"), *tables]) == 0
    csrc, headers = "torch_npu/csrc", ROOT / "softnpu/include"
    include = [copy.folder / "opgen", copy.folder / csrc, ROOT / csrc, headers]
    assert "halved" not in copy.read(OUTPUTS.path)  # so code that names it does not compile
    copy.follow(OUTPUTS, before="}  // namespace torch_npu::shapes")
    assert errors(source, include, *PLUGIN) == ""


def packet_of(name, entries, refused):
    """The operator ``name`` with the overloads of ``entries`` and of ``refused``; if there are none, the default one."""
    known = [*(f"npu::{entry}" for entry in entries), *refused]
    found = [full for full in known if full.partition("::")[2].partition(".")[0] == name]
    namespace = found[0].partition("::")[0] if found else "npu"
    overloads = [full.partition(".")[2] or "default" for full in found] or ["default"]
    return SimpleNamespace(_qualified_op_name=f"{namespace}::{name}", overloads=lambda: overloads)


def test_the_cases_are_asked_for_and_say_what_is_computed(copy, monkeypatch):
    copy.follow(ENTRY, before=FIRST)
    listed: dict = {"torch": torch}
    found = operators(copy)
    rest = tuple(without_entry(found, official_schemas()))
    exec(python.python(found, rest)["custom_ops.py"].partition("\n\n\n")[0], listed)
    # The test file needs only the names until one of its tests runs.
    entries = [o.name for o in found]
    packets = {
        name: packet_of(name, entries, listed["NOT_IMPLEMENTED"]) for name in listed["__all__"]
    }
    names_of_operators = SimpleNamespace(
        __all__=listed["__all__"], NOT_IMPLEMENTED=listed["NOT_IMPLEMENTED"], **packets
    )
    fake = SimpleNamespace(custom_ops=names_of_operators, accuracy=accuracy)
    monkeypatch.setitem(sys.modules, "torch_npu", fake)
    path = copy.folder / CASES.path
    with pytest.raises(AssertionError):
        run_path(str(path))["test_every_operator_is_checked"]()
    case, sizes = CASES.rows
    copy.follow(case, before='    "npu_geglu": (')
    copy.follow(sizes, before='    "npu_silu_backward": (')
    tests = run_path(str(path))
    tests["test_every_operator_is_checked"]()
    definition, given, others, _ = tests["CASES"]["npu_swiglu"]
    assert definition(*tests["tensors"](*given), **others).shape == (3, 4)
