"""The counts that documents state are those of the tables."""

import re

import pytest
from dev.files import tracked
from dev.paths import ROOT

from codegen.files import read_files

FILES = read_files(ROOT / "torch_npu" / "csrc" / "aten" / "npu_native_functions.yaml")
ENTRIES = {entry.func.split("(")[0]: entry for entry in FILES.custom}


def implemented(namespace):
    """The official operators of a namespace that an entry, a kernel or a function by hand implements."""
    return [
        o.name
        for o in FILES.schemas
        if o.namespace == namespace
        and (not o.is_refused or (namespace == "npu" and o.name in ENTRIES))
    ]


def with_kernels():
    return [n for n in implemented("npu") if n not in ENTRIES or not ENTRIES[n].is_composed]


def pairs():
    tables = (path.read_text() for path in (ROOT / "softnpu" / "ops").rglob("operators.txt"))
    return {name for text in tables for name in re.findall(r"^(aclnn\w+)\(", text, re.MULTILINE)}


def official(namespace):
    return [o for o in FILES.schemas if o.namespace == namespace]


# A statement with one number, and what the number is.
STATED = {
    r"(\d+) aclnn pairs of phases": len(pairs()),
    r"(\d+) official schemas of `npu`": len(official("npu")),
    r"all (\d+) of `atb`": len(official("atb")),
    r"(\d+) and \d+ are implemented": len(implemented("npu")),
    r"\d+ and (\d+) are implemented": len(implemented("atb")),
    r"(\d+) of the \d+ operators of namespace `npu`": len(implemented("npu")),
    r"\d+ of the (\d+) operators of namespace `npu`": len(official("npu")),
    r"(\d+) of them with kernels": len(with_kernels()),
    r"(\d+) entries by aclnn": len(FILES.official),
}
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): " ".join(path.read_text().split())
    for path in tracked("*.md")
    if path.name != "CHANGELOG.md"
}


@pytest.mark.parametrize("pattern", STATED)
def test_a_count_is_that_of_the_tables(pattern):
    found = {name: re.findall(pattern, text) for name, text in DOCUMENTS.items()}
    assert any(found.values()), "no document states it: remove the row"
    wrong = [
        f"{name}: {number}, the tables have {STATED[pattern]}"
        for name, numbers in found.items()
        for number in numbers
        if int(number) != STATED[pattern]
    ]
    assert not wrong


def test_the_tables_are_not_empty():
    assert all(STATED.values())
