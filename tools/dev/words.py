"""Words that identifiers must not use: each thing has the field's name, which a table of docs/glossary.md lists."""

import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from dev.paths import ROOT

GLOSSARY = "docs/glossary.md"
_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]*) \|$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CPP = (".cpp", ".h")
# What is not C++ code: strings, comments, the names of tests.
_TEXT = re.compile(r"""(\x22|\x27)(?:(?!\1)[^\\]|\\.)*\1|//.*$|^ *TEST\w*\(.*$""")
# Longer identifiers are sentences: names of tests.
_MOST_PARTS = 4


@dataclass(frozen=True)
class Word:
    """A row of the table: the retired word, what to write instead, and the identifiers in which it stays (patterns)."""

    word: str
    instead: str
    stays: tuple[str, ...]

    @property
    def is_part(self) -> bool:
        """Whether it is refused as a part of an identifier, too."""
        return self.word.isalpha() and self.word.islower()


@cache
def words() -> dict[str, Word]:
    """The retired words of the glossary's last table."""
    text = (ROOT / GLOSSARY).read_text().split("## Retired words")[-1]
    rows = (match.groups() for line in text.splitlines() if (match := _ROW.match(line)))
    return {
        word: Word(word, instead, tuple(re.findall(r"`([^`]+)`", stays)))
        for word, instead, stays in rows
    }


@cache
def retired(identifier: str) -> str | None:
    """What to write instead of ``identifier``, or None if it contains no retired word."""
    table = words()

    def found() -> Iterator[Word]:
        if identifier in table:
            yield table[identifier]
        parts = [part.lower() for part in _PART.findall(identifier)]
        if len(parts) <= _MOST_PARTS and not identifier.startswith("test_"):
            yield from (table[part] for part in parts if part in table and table[part].is_part)

    for word in found():
        if not any(fnmatchcase(identifier, pattern) for pattern in word.stays):
            return word.instead
    return None


def _identifiers(file: Path) -> Iterator[tuple[int, str]]:
    """The identifiers of a source file, with their lines."""
    if file.suffix == ".py":
        with file.open() as text:
            for token in tokenize.generate_tokens(text.readline):
                if token.type == tokenize.NAME:
                    yield token.start[0], token.string
    elif file.suffix in _CPP:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for identifier in _IDENTIFIER.findall(_TEXT.sub('""', line)):
                yield number, identifier


def retired_words(files: list[Path], root: Path = ROOT) -> list[str]:
    """Identifiers and file names with retired words, as 'file:line: text'."""
    found = []
    for file in files:
        name = file.relative_to(root).as_posix()
        parts = ((1, part) for part in _IDENTIFIER.findall(name.removesuffix(file.suffix)))
        for number, identifier in (*parts, *_identifiers(file)):
            if better := retired(identifier):
                found.append(
                    f"{name}:{number}: {identifier} uses a retired word: {better} ({GLOSSARY})"
                )
    return found
