"""The files and texts that PROVENANCE.md names exist."""

import re

import pytest
from dev.paths import ROOT

TEXT = (ROOT / "PROVENANCE.md").read_text()
KEPT = re.findall(r"^\| `([^`]+)` \| (.+) \|$", TEXT.split("## Error texts kept")[1], re.MULTILINE)


def _files(location: str) -> list[str]:
    """A file or folder, or several: ``softnpu/ops/{loss,norm}/operators.txt``."""
    braces = re.search(r"\{([^}]*)\}", location)
    if not braces:
        return [location]
    return [location.replace(braces[0], choice) for choice in braces[1].split(",")]


@pytest.mark.parametrize(("file", "text"), KEPT)
def test_kept_error_text_is_in_its_file(file, text):
    source = re.sub(r'"\s*\n\s*f?"', "", (ROOT / file).read_text())
    assert text in source


def test_every_place_exists():
    firsts = re.findall(r"^\| ([^|]+) \|", TEXT.split("## Licences")[0], re.MULTILINE)[1:]
    named = [location for first in firsts for location in re.findall(r"`([^`]+)`", first)]
    paths = [name for location in named if "/" in location for name in _files(location)]
    assert len(paths) > 60
    assert [path for path in paths if not (ROOT / path).exists()] == []
