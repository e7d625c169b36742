"""The recipe "An elementwise operator, from the kernel to `torch`", followed in a copy."""

from runpy import run_path

import pytest
import torch.nn.functional as F

from codegen import parse
from codegen.emit import aclnn
from recipes.compiler import errors
from recipes.recipe import OPERATORS, ROOT, Copy, steps
from softnpu.opgen import __main__ as opgen

FUNCTOR, ROWS, TYPE, REFERENCE, ENTRY = steps("An elementwise operator, from the kernel to `torch`")


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path, (FUNCTOR, ROWS, TYPE, REFERENCE, ENTRY), *OPERATORS)


def generate(copy):
    tables = (str(copy.folder / step.path) for step in (ROWS, TYPE))
    assert opgen.main(["--output", str(copy.folder / "opgen"), *tables]) == 0


def compiled(copy, path):
    return errors(
        copy.folder / path,
        # The vector kernels include their own file by its name.
        (
            copy.folder / "opgen",
            copy.folder / "softnpu",
            ROOT / "softnpu",
            ROOT / "softnpu/include",
        ),
        "-DHWY_COMPILE_ONLY_STATIC",
    )


def test_the_rows_become_c_functions_that_run_the_functor(copy):
    generate(copy)
    header = copy.folder / "opgen/aclnnop/aclnn_hardswish.h"
    assert not header.exists()
    assert "kHardswish," not in copy.read("opgen/opgen/map_op.inc")

    copy.follow(ROWS)
    generate(copy)
    assert "'Hardswish' was not declared" in compiled(copy, FUNCTOR.path)
    copy.follow(FUNCTOR, before="MapKernel kernel_for(")
    assert compiled(copy, FUNCTOR.path) == ""
    assert compiled(copy, "opgen/entries/elementwise.cpp") == ""
    assert "aclnnHardswishGetWorkspaceSize(const aclTensor* self, aclTensor* out," in (
        header.read_text()
    )
    inplace = copy.read("opgen/aclnnop/aclnn_inplace_hardswish.h")
    assert "aclnnInplaceHardswishGetWorkspaceSize(aclTensor* selfRef," in inplace
    assert "kHardswish,  // a * relu6(a + 3) / 6\n" in copy.read("opgen/opgen/map_op.inc")


def test_the_row_of_its_type_plans_it(copy):
    def rows():
        generate(copy)
        return copy.read("opgen/opgen/rows_elementwise.inc")

    assert "HardSwish" not in rows()
    copy.follow(TYPE)
    assert "plan_unary<MapOp::kHardswish>(of, plan)" in rows()
    assert "promoted(of, 1, y)" in rows()


def test_the_reference_is_pytorchs_function(copy):
    def references():
        return run_path(str(copy.folder / REFERENCE.path))["REFERENCES"]

    assert references()["Hardswish"].function is not F.hardswish  # the entry's operator
    copy.follow(REFERENCE, before='    "Hardsigmoid"')
    assert references()["Hardswish"].function is F.hardswish


def wrappers(copy):
    functions = parse.native_functions()
    settings = parse.read_settings(copy.folder / OPERATORS[0], functions)
    found = parse.aclnn_operators(settings, functions)
    return {o.name: o for o in found if o.name == "hardswish.out"}


def test_the_entry_registers_every_form(copy):
    assert not wrappers(copy)
    copy.follow(ENTRY, before="  - func: hardtanh.out")
    operators = wrappers(copy)
    (route,) = operators["hardswish.out"].routes
    assert route.function == "aclnnHardswish"
    (text,) = aclnn.aclnn(list(operators.values()), 1).values()
    for variant in ("hardswish", "hardswish_", "hardswish.out"):
        assert f'm.impl("{variant}"' in text
