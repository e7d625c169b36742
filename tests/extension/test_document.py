"""The listings of docs/cpp_extensions.md are parts of the examples, which test_examples.py builds and runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "cpp_extensions.md"
SUFFIXES = {"cpp": "extension.cpp", "py": "setup.py", "cmake": "CMakeLists.txt"}
EXAMPLES = ("npu_extension_aclrt", "npu_extension_aclnn")


def listings():
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    for language, block in blocks:
        yield pytest.param(language, block, id=f"{language}: {block.splitlines()[0]}")


@pytest.mark.parametrize(("language", "block"), listings())
def test_a_listing_is_part_of_an_example(language, block):
    files = [ROOT / "examples" / example / SUFFIXES[language] for example in EXAMPLES]
    assert any(f"\n{block}" in f"\n{file.read_text()}" for file in files if file.exists())


def test_the_headers_of_the_table_exist():
    rows = re.findall(r"^\| (`<[^|]*\.h>`) \|", DOCUMENT.read_text(), re.MULTILINE)
    include = ROOT / "build" / "python" / "torch_npu" / "include"
    known = {path.relative_to(include).as_posix() for path in include.rglob("*.h")}
    named = [name for row in rows for name in re.findall(r"`<([^`]+\.h)>`", row)]
    assert len(named) > 15
    missing = [
        name
        for name in named
        if not any(path.endswith(f"/{name}") or path == name for path in known)
    ]
    assert not missing
