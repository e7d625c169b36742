"""The documents: their links, the pages of the site, and what a reader of README finds within two clicks."""

import posixpath
import re

import pytest
from dev.files import tracked
from dev.paths import ROOT

_LINK = re.compile(r"\[[^\]]+\]\((?!https?:)([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
DOCUMENTS = {path.relative_to(ROOT).as_posix(): path.read_text() for path in tracked("*.md")}


def anchors(text):
    """The anchors of a document's headings, as GitHub and MyST name them."""
    headings = re.findall(r"^#+ (.*)$", _CODE.sub(lambda m: m[0].strip("`"), text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def links(name):
    """Where the links of a document lead, as (path in the checkout, anchor)."""
    for target in _LINK.findall(_CODE.sub("", DOCUMENTS[name])):
        path, _, anchor = target.partition("#")
        here = posixpath.join(posixpath.dirname(name), path) if path else name
        yield posixpath.normpath(here), anchor


def test_links_are_found_in_a_line_and_not_in_code():
    assert _LINK.findall("[a](b.md#c) and [d](e)") == ["b.md#c", "e"]
    assert _LINK.findall(_CODE.sub("", "`[a](b.md)` [c](https://pytorch.org)")) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_to_a_file_and_a_heading(name):
    for path, anchor in links(name):
        assert (ROOT / path).exists(), f"{name}: {path} does not exist"
        if anchor:
            assert anchor in anchors(DOCUMENTS[path]), f"{name}: {path} has no heading {anchor}"


def test_every_page_of_the_site_is_listed_once():
    settings: dict = {}
    exec((ROOT / "docs" / "conf.py").read_text(), settings)
    listed = []
    for name in ("docs/index.md", "docs/npu_operators/index.md"):
        folder = posixpath.dirname(name)
        for block in re.findall(r"```\{toctree\}\n(.*?)```", DOCUMENTS[name], re.DOTALL):
            entries = [line for line in block.splitlines() if line and line[0] != ":"]
            listed += [posixpath.normpath(f"{folder}/{entry}.md") for entry in entries]
    patterns = [p.removesuffix("**") for p in settings["include_patterns"]]
    pages = {name for name in DOCUMENTS if name.startswith(tuple(patterns))} - {"docs/index.md"}
    assert sorted(listed) == sorted(pages)


# What a reader wants, and the page that says it.
WANTED = {
    "a program written for CUDA": "docs/migration.md",
    "a first kernel": "docs/ascend_c/tutorial.md",
    "an operator npu_swiglu": "docs/npu_operators/gates.md",
    "wrong numbers": "docs/debugging.md",
    "a slow program": "docs/profiling.md",
    "adding an operator": "CONTRIBUTING.md",
}


@pytest.mark.parametrize("page", WANTED.values(), ids=WANTED.keys())
def test_two_clicks_from_readme(page):
    first = {path for path, _ in links("README.md")}
    second = {path for name in first & DOCUMENTS.keys() for path, _ in links(name)}
    assert page in first | second


def test_the_api_reference_has_every_public_package():
    packages = (path.parent for path in (ROOT / "torch_npu").rglob("__init__.py"))
    names = {".".join(package.relative_to(ROOT).parts) for package in packages}
    public = {n for n in names if not re.search(r"\._|\.csrc|\.kernels\.", n)}
    described = set(
        re.findall(r"^\.\. auto(?:module|class):: (\S+)", DOCUMENTS["docs/api.md"], re.M)
    )
    assert public - described - {"torch_npu.contrib"} == set()
    assert {"torch_npu.contrib.transfer_to_npu", "torch_npu.npu.mstx.mstx"} <= described
