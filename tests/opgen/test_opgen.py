"""Operator tables: an error in a line names file and line; a row becomes a header and two functions."""

import shutil
import subprocess

import pytest

from softnpu.opgen import __main__ as command
from softnpu.opgen import emit, types
from softnpu.opgen.parse import TableError, parse
from tests.aclnn.library import operators

ADD = (
    "aclnnAdd(Tensor self, Tensor? other, double alpha, Tensor! out) = add(self, other, alpha, out)"
)


def table(tmp_path, text: str):
    path = tmp_path / "family" / "operators.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("aclnnAdd\n", 1, "not 'aclnnName(arguments) = plan(...)'"),
        (
            "\n# x\nAdd(Tensor self) = add(self)\n",
            3,
            "'Add' does not begin with 'aclnn' or 'softnpu'",
        ),
        ("aclnnAdd(self) = add(self)\n", 1, "argument 'self' is not 'Type name'"),
        ("aclnnAdd(Tensr self) = add(self)\n", 1, "unknown type 'Tensr'; known are Tensor, Scalar"),
        ("aclnnAdd(int64? dim) = add(dim)\n", 1, "is passed by value: it cannot be optional"),
        ("aclnnAdd(Tensor a, Tensor a) = add(a)\n", 1, "two arguments are called 'a'"),
        ("aclnnAdd(Tensor a) = add\n", 1, "the plan 'add' is not a call"),
        (f"{ADD}\n{ADD}\n", 2, "aclnnAdd is there twice"),
        (f"{ADD}\ninclude a.h\n", 2, "includes come before the operators"),
        ("function add\n", 1, "the function 'add' is no name of a functor"),
        ("function Add, cost 4\n", 1, "unknown part 'cost 4'; known are 'in FILE', 'costs N'"),
        ("function Add\nfunction Add\n", 2, "the function Add is there twice"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, line, says):
    path = table(tmp_path, text)
    with pytest.raises(TableError) as raised:
        parse(path)
    assert str(raised.value).startswith(f"{path}:{line}: ")
    assert says in str(raised.value)


def test_a_row(tmp_path):
    (operator,) = parse(table(tmp_path, f"include ops/add.h\n{ADD}\n")).operators
    assert operator.header == "aclnn_add.h"
    assert [a.c_type for a in operator.arguments] == [
        "const aclTensor*",
        "const aclTensor*",
        "double",
        "aclTensor*",
    ]
    assert (
        "aclnnAddGetWorkspaceSize(const aclTensor* self, const aclTensor* other, double alpha"
        in (emit.header(operator))
    )


def test_null_is_an_error_unless_it_is_optional(tmp_path):
    text = emit.entries(parse(table(tmp_path, f"include ops/add.h\n{ADD}\n")), "entries.cpp")
    assert '#include "ops/add.h"' in text
    assert 'not_null(self_, "self")' in text
    assert 'not_null(out_, "out")' in text
    assert "not_null(other_" not in text
    assert "return add(self, other, alpha, out, plan);" in text


def test_errors_in_a_plan_name_the_row(tmp_path):
    path = table(tmp_path, f"include ops/add.h\n\n{ADD}\n")
    lines = emit.entries(parse(path), "entries.cpp").splitlines()
    row = lines.index(f'#line 3 "{path}"')
    assert lines[row + 1] == "  return add(self, other, alpha, out, plan);"
    assert lines[row + 2] == f'#line {row + 4} "entries.cpp"'  # line numbers start at 1


def test_a_row_of_a_function_is_its_enumerator_traits_and_case(tmp_path):
    rows = (
        "function Hardswish, in arithmetic  # a * relu6(a + 3) / 6\n"
        "function Add, costs 4, rounds constants, keeps numbers\n"
        "function TanhBackward, in gradient\n"
    )
    parts = emit.functions(parse(table(tmp_path, rows)).functions)
    assert parts == {
        "map_op.inc": "kHardswish,  // a * relu6(a + 3) / 6\nkAdd,\nkTanhBackward,\n",
        "map_op_traits.inc": (
            "    {1, false, false},  // Hardswish\n"
            "    {4, true, true},  // Add\n"
            "    {1, false, false},  // TanhBackward\n"
        ),
        "arithmetic_cases.inc": (
            "case MapOp::kHardswish: return real_loop<Hardswish>(compute_type);\n"
        ),
        "gradient_cases.inc": (
            "case MapOp::kTanhBackward: return real_loop<TanhBackward>(compute_type);\n"
        ),
    }


def test_callers_take_values_of_one_type(tmp_path):
    text = emit.callers([parse(table(tmp_path, f"include ops/add.h\n{ADD}\n"))])
    assert '{"self", Kind::kTensor, false, false}' in text
    assert '{"out", Kind::kTensor, false, true}' in text
    assert "static_cast<const aclTensor*>(v[0].object)" in text


def test_the_command(tmp_path, capsys):
    path = table(tmp_path, f"include ops/add.h\n{ADD}\n")
    out = tmp_path / "out"
    assert command.main(["--output", str(out), str(path)]) == 0
    written = {p.relative_to(out).as_posix(): p for p in out.rglob("*.*")}
    assert set(written) == {"aclnnop/aclnn_add.h", "entries/family.cpp", "callers.cpp"}
    before = written["aclnnop/aclnn_add.h"].stat().st_mtime_ns
    assert command.main(["--output", str(out), str(path)]) == 0
    assert written["aclnnop/aclnn_add.h"].stat().st_mtime_ns == before  # not written again
    other = tmp_path / "other" / "operators.txt"
    other.parent.mkdir()
    shutil.copy(path, other)
    assert command.main(["--output", str(out), str(path), str(other)]) == 1
    assert f"aclnnAdd is in {path} too" in capsys.readouterr().err


def test_headers_are_c(tmp_path):
    """Every operator's header compiles with a C compiler."""
    from tests.aclnn.library import ROOT

    source = tmp_path / "all.c"
    for operator in operators().values():
        header = tmp_path / "aclnnop" / operator.header
        header.parent.mkdir(exist_ok=True)
        header.write_text(emit.header(operator))
    names = sorted(operator.header for operator in operators().values())
    source.write_text(
        "#include <stdbool.h>\n" + "".join(f'#include "aclnnop/{n}"\n' for n in names)
    )
    include = ROOT / "softnpu" / "include"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run(["cc", *flags, f"-I{include}", f"-I{tmp_path}", source], check=True)


def test_a_row_of_a_type_binds_the_names_that_its_calls_use(tmp_path):
    row = 'type ConcatD(x*, host sizes; int concat_dim = 1, string mode = "a") -> y = cat(x, concat_dim, y) infers sized(sizes, x, y)'
    (parsed,) = parse(table(tmp_path, f"{row}\n")).types
    text = types.rows([parsed], "shape.txt", "rows.inc", "shape")
    plan, _, infer = text.partition("infer_of_ConcatD")
    assert "const aclTensorList x = of.list(0);" in plan
    assert 'const int64_t concat_dim = of.integer("concat_dim");' in plan
    assert not {"sizes", "mode"} & set(plan.split())
    assert "return cat(x, concat_dim, y, plan);" in plan
    assert "const aclIntArray sizes = of.numbers(1);" in infer
    assert '{"mode", AttributeKind::kString, 0, "a"}' in infer


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("type Add(x) -> y", "not 'type Name"),
        ("type Add(odd x) -> y = f(x) infers g(x)", "the input 'odd x'"),
        ("type Add(x; number a) -> y = f(x) infers g(x)", "the attribute 'number a'"),
    ],
)
def test_a_malformed_row_of_a_type_names_its_part(tmp_path, row, message):
    with pytest.raises(TableError, match=message):
        parse(table(tmp_path, f"{row}\n"))
