"""The tables of the C ABI: errors name file and line; generated files are correct and up to date."""

import shutil
import subprocess
from pathlib import Path

import pytest

from softnpu.abi import checks, document, tables

ROOT = Path(__file__).resolve().parents[2]
F = "aclF\tlibascendcl.so\t"


@pytest.fixture
def read(tmp_path):
    def read_text(reader, text):
        path = tmp_path / "t.tsv"
        path.write_text(text)
        return reader(path)

    return read_text


def compile_checks(tmp_path, functions=(), constants=(), structs=()):
    """The compiler's output for the checks of these rows; empty if they hold."""
    compiler = shutil.which("c++")
    assert compiler is not None
    source = tmp_path / "checks.cpp"
    source.write_text(checks.checks(functions, constants, structs))
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'softnpu/include'}", source]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode == 0) == (result.stderr == "")
    return result.stderr


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("# a comment\naclF libascendcl.so done - -\n", 2, "expected symbol, library, status"),
        (F + "done\t-\n", 1, "expected symbol, library, status"),
        (F + "done\t\t-\n", 1, "expected symbol, library, status"),
        (F + "done\t-\t-\tx\ty\n", 1, "expected symbol, library, status"),
        ("acl F\tlibascendcl.so\tdone\t-\t-\n", 1, "'acl F' is no symbol"),
        ("aclF\tascendcl\tdone\t-\t-\n", 1, "library 'ascendcl': expected a name like"),
        (F + "finished\t-\t-\n", 1, "status 'finished': there are done, benign, unsupported"),
        (F + "done\tlinked\t-\n", 1, "wheel 'linked': there are link, dlsym, -"),
        (F + "done\t-\t-\n\n" + F + "done\t-\t-\n", 3, r"aclF stands at .*t\.tsv:1 already"),
        (F + "benign\t-\t-\n", 1, "aclF is benign: it needs a note"),
        (F + "done\t-\t-\twhy\n", 1, "aclF is done: it has no note"),
        (F + "done\t-\tint aclG(void)\n", 1, r"expected 'type aclF\(parameters\)' or '-'"),
        (F + "done\t-\tint aclF()\n", 1, "no parameters are 'void'"),
        (F + "done\t-\taclF(void)\n", 1, "expected 'type aclF"),
    ],
)
def test_errors_in_functions_name_file_and_line(read, text, line, says):
    with pytest.raises(tables.TableError, match=rf"t\.tsv:{line}: .*{says}"):
        read(tables.functions, text)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("define\tA\n", 1, "expected kind, name, value"),
        ("define\tA\t1\tx\n", 1, "expected kind, name, value"),
        ("define\tA B\t1\n", 1, "'define' 'A B': expected two names"),
        ("#\ndefine\tA\tone\n", 2, "A is 'one': expected a whole number"),
        ("define\tA\t1 + 1\n", 1, "expected a whole number"),
        ("define\tA\t1\nconst\tA\t1\n", 2, r"A stands at .*t\.tsv:1 already"),
    ],
)
def test_errors_in_constants_name_file_and_line(read, text, line, says):
    with pytest.raises(tables.TableError, match=rf"t\.tsv:{line}: .*{says}"):
        read(tables.constants, text)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("S\n", 1, "expected name, fields"),
        ("S T\t{ int a; }\n", 1, "'S T' is no name"),
        ("S\tint a;\n", 1, "expected '{ type field; … }'"),
        ("S\t{ int a }\n", 1, "expected '{ type field; … }'"),
        ("S\t{ int a; b; }\n", 1, "field 'b' of S: expected 'type name'"),
        ("S\t{ int a; }\nS\t{ int b; }\n", 2, r"S stands at .*t\.tsv:1 already"),
    ],
)
def test_errors_in_structs_name_file_and_line(read, text, line, says):
    with pytest.raises(tables.TableError, match=rf"t\.tsv:{line}: .*{says}"):
        read(tables.structs, text)


def test_rows_are_read_whole(read):
    text = F + "benign\tlink\tconst char* aclF(int* a, int64_t b[][2])\tnothing to do\n"
    (function,) = read(tables.functions, text)
    assert function == tables.Function(
        "aclF",
        "libascendcl.so",
        "benign",
        "link",
        "const char*",
        "int* a, int64_t b[][2]",
        "nothing to do",
    )
    assert function.parameter_count == 2
    (nameless,) = read(tables.functions, F + "done\t-\t-\n")
    assert (nameless.has_prototype, nameless.parameter_count) == (False, 0)
    (none,) = read(tables.functions, F + "done\t-\tint aclF(void)\n")
    assert (none.has_prototype, none.parameter_count) == (True, 0)
    (struct,) = read(tables.structs, "S\t{ char a[N]; void *b; uint32_t c[2][3]; }\n")
    assert struct.names == ("a", "b", "c")


def test_the_command_stops_at_a_malformed_table(tmp_path, capsys):
    for name in ("functions", "constants", "structs"):
        (tmp_path / f"{name}.tsv").write_text("")
    (tmp_path / "structs.tsv").write_text("S\n")
    output = tmp_path / "checks.cpp"
    assert checks.main(["--tables", str(tmp_path), "--output", str(output)]) == 1
    assert f"{tmp_path}/structs.tsv:1: expected name, fields" in capsys.readouterr().err
    assert not output.exists()


def function(prototype):
    returns, _, rest = prototype.partition(" ")
    name, _, parameters = rest.partition("(")
    return tables.Function(name, "libascendcl.so", "done", "-", returns, parameters[:-1], "")


@pytest.mark.parametrize(
    ("prototype", "holds"),
    [
        ("size_t aclDataTypeSize(aclDataType dataType)", True),
        ("int aclDataTypeSize(aclDataType dataType)", False),
        ("size_t aclDataTypeSize(int dataType)", False),
        ("size_t aclDataTypeSize(aclDataType dataType, int more)", False),
    ],
)
def test_a_header_with_another_type_does_not_compile(tmp_path, prototype, holds):
    message = compile_checks(tmp_path, functions=[function(prototype)])
    assert ("aclDataTypeSize has another type than functions.tsv says" in message) is not holds


@pytest.mark.parametrize("prototype", ["int aclDataTypeSize(int dataType)", "int aclF(void)"])
def test_the_compiler_names_the_row(tmp_path, read, prototype):
    name = prototype.split()[1].partition("(")[0]
    rows = read(tables.functions, f"#\n\n{name}\tlibascendcl.so\tdone\t-\t{prototype}\n")
    constants = [tables.Constant("aclDataType", "ACL_BF16", "27")]
    message = compile_checks(tmp_path, functions=rows, constants=constants)
    assert f"{tmp_path}/t.tsv:3:" in message


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("aclDataType", "ACL_BF16", "27"), None),
        (("define", "ACL_UNKNOWN_RANK", "0xFFFFFFFFFFFFFFFE"), None),
        (("aclDataType", "ACL_BF16", "28"), "ACL_BF16 has another value than constants.tsv says"),
        (("aclFormat", "ACL_BF16", "27"), "ACL_BF16 is of another enum than constants.tsv says"),
    ],
)
def test_a_header_with_another_value_does_not_compile(tmp_path, row, says):
    message = compile_checks(tmp_path, constants=[tables.Constant(*row)])
    assert (message == "") if says is None else (says in message)


@pytest.mark.parametrize(
    ("fields", "holds"),
    [
        ("uint32_t id; aclrtMemLocationType type;", True),
        ("aclrtMemLocationType type; uint32_t id;", False),
        ("uint64_t id; aclrtMemLocationType type;", False),
        ("int32_t id; aclrtMemLocationType type;", False),
        ("uint32_t id; aclrtMemLocationType type; uint32_t more;", False),
    ],
)
def test_a_header_with_another_layout_does_not_compile(tmp_path, read, fields, holds):
    rows = read(tables.structs, f"aclrtMemLocation\t{{ {fields} }}\n")
    message = compile_checks(tmp_path, structs=rows)
    assert (message == "") is holds


def test_the_document_is_what_the_tables_say():
    assert document.DOCUMENT.read_text() == document.document(tables.functions()), "run ./dev abi"


def test_a_prototype_that_no_header_declares_is_named(read):
    rows = read(tables.functions, F + "done\t-\tint aclF(void)\n")
    with pytest.raises(tables.TableError, match=r"t\.tsv:1: no header of softnpu/include declares"):
        document.document(rows)


def test_the_document_lists_every_function_once():
    functions = tables.functions()
    text = document.document(functions).partition("\n## ")[2]
    assert [f.name for f in functions if text.count(f"`{f.name}`") != 1] == []
    assert all(f.note in text for f in functions)
