"""The documentation site: how documents become its pages."""

from dev.docs import PAGES, page, stage
from dev.paths import ROOT


def test_links_lead_to_pages_or_become_text(tmp_path):
    text = "[a](softnpu/README.md#part) [b](docs/acl.md) [c](https://pytorch.org) [d](dev)"
    assert page(text, tmp_path, tmp_path) == (
        "[a](softnpu.md#part) [b](acl.md) [c](https://pytorch.org) d"
    )
    assert page("[a](../../ARCHITECTURE.md)", tmp_path / "x" / "y", tmp_path) == (
        "[a](architecture.md)"
    )
    in_folder = page("[a](../acl.md) [b](c.md)", tmp_path / "docs" / "x", tmp_path)
    assert in_folder == "[a](../acl.md) [b](c.md)"


def test_every_page_is_staged_and_in_the_index(tmp_path):
    source = tmp_path / "source"
    stage(source)
    staged = {path.relative_to(source).with_suffix("").as_posix() for path in source.rglob("*.md")}
    index = set((ROOT / "docs" / "index.md").read_text().split())
    assert staged - index == {"index"}
    assert {target.removesuffix(".md") for target in PAGES.values()} <= staged
