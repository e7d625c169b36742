"""The recipe "A function of CANN's C ABI", followed in a copy."""

import re
import subprocess
import sys
from itertools import product

import pytest

from recipes.compiler import errors, exported
from recipes.recipe import ROOT, Copy, steps
from softnpu.abi import checks, tables

ROW, DECLARATION, DEFINITION, TEST = steps("A function of CANN's C ABI")
NAME = "aclrtGetGroupCount"


@pytest.fixture
def copy(tmp_path):
    recipe = (ROW, DECLARATION, DEFINITION, TEST)
    return Copy(tmp_path, recipe, "softnpu/abi", "softnpu/include", "docs/acl.md")


def abi(copy):
    """Runs the same code as `./dev abi`."""
    command = [sys.executable, "-m", "softnpu.abi.document"]
    done = subprocess.run(command, cwd=copy.folder, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr


def declare(copy):
    copy.follow(DECLARATION, before="ACL_FUNC_VISIBILITY aclrtGroupInfo* aclrtCreateGroupInfo")


def include(copy):
    return (copy.folder / "softnpu", copy.folder / "softnpu/include", ROOT / "softnpu")


def test_the_row_and_the_declaration_are_one_line_of_the_document(copy):
    copy.follow(ROW)
    row = len(copy.read(ROW.path).splitlines())
    message = f"functions.tsv:{row}: no header of softnpu/include declares {NAME}\n"
    assert abi(copy).endswith(message)
    declare(copy)
    assert abi(copy) == ""
    section = copy.read("docs/acl.md").partition(f"\n## `{DECLARATION.path}`\n")[2]
    done = section.partition("\n## ")[0].partition("**done**: ")[2].splitlines()[0]
    assert f"`{NAME}`" in done


def test_the_declaration_is_compiled_against_the_row(copy):
    copy.follow(ROW)
    functions = [f for f in tables.functions(copy.folder / ROW.path) if f.name == NAME]
    source = copy.folder / "checks.cpp"
    source.write_text(checks.checks(functions, (), ()))
    assert f"'{NAME}' was not declared" in errors(source, include(copy))
    declare(copy)
    assert errors(source, include(copy)) == ""


def test_the_library_exports_the_definition_and_a_test_calls_it(copy):
    declare(copy)
    library = copy.folder / "library.so"
    assert NAME not in exported(copy.folder / DEFINITION.path, include(copy), library)
    copy.follow(DEFINITION)
    assert NAME in exported(copy.folder / DEFINITION.path, include(copy), library)
    copy.follow(TEST, before="  EXPECT_EQ(aclrtSetGroup(0), ")
    folders = (*include(copy), ROOT / "softnpu/tests")
    assert errors(copy.folder / TEST.path, folders) == ""


def named(cell):
    """The paths in backticks, with each {a,b} expanded."""
    for text in re.findall(r"`([^`]+)`", cell):
        parts = [part.split(",") for part in re.split(r"[{}]", text)]
        yield from ("".join(choice) for choice in product(*parts))


def test_provenance_has_a_row_of_each_header():
    table = (ROOT / "PROVENANCE.md").read_text()
    cells = (line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    sources = [f"{path}/" for cell in cells for path in named(cell)]
    folder = ROOT / "softnpu/include"
    headers = (h for h in folder.rglob("*.h") if not h.is_relative_to(folder / "softnpu"))
    names = [f"{header.relative_to(ROOT)}/" for header in headers]
    assert [name for name in names if not name.startswith(tuple(sources))] == []
