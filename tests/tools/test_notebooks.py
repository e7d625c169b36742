"""`./dev notebooks`: which blocks of a page become cells."""

import re

import pytest
from dev.notebooks import PAGES, cells
from dev.paths import ROOT


def test_only_python_becomes_a_cell():
    text = "```sh\n./dev demo\n```\n```python\nx = 1\n```\n```\nplain\n```\n"
    assert cells(text) == (
        "```sh .noeval\n./dev demo\n```\n```python\nx = 1\n```\n```\nplain\n```\n"
    )


def test_links_to_documents_become_text():
    text = "[a](acl.md#part) [b](https://pytorch.org/x.md) [c](d)"
    assert cells(text) == "a [b](https://pytorch.org/x.md) [c](d)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_cells_and_no_other_file(name):
    text = (ROOT / "docs" / f"{name}.md").read_text()
    assert re.search("^```python$", text, re.MULTILINE)
    assert not re.search(r"^(?:from|import) (?:ascendc|examples)", text, re.MULTILINE)
