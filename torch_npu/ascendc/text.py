"""Reads C++ without understanding it: literals and comments, brackets, line markers."""

import re
from bisect import bisect_right
from typing import NamedTuple

# What may hold brackets or quotes that mean nothing. A number may hold quotes as separators.
OPAQUE = r"""
    //[^\n]* | /\*.*?\*/
  | \b(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"
  | "(?:\\.|[^"\\\n])*"
  | \b\d(?:'?[\w.])*
  | '(?:\\.|[^'\\\n])*'
  | ^[ \t]*\#[^\n]*
"""
_FLAGS = re.VERBOSE | re.DOTALL | re.MULTILINE
_STEP = re.compile(
    rf"(?P<opaque>{OPAQUE})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<comma>,)", _FLAGS
)
_MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"\\])*)"([ \d]*)$', re.MULTILINE)


def pattern(interesting: str) -> re.Pattern[str]:
    """Matches literals and comments as group ``opaque``, and what ``interesting`` names."""
    return re.compile(rf"(?P<opaque>{OPAQUE})|{interesting}", _FLAGS)


def closing(text: str, start: int) -> int:
    """The index behind the bracket that closes the one at ``start``; -1 if nothing does."""
    depth = 0
    for found in _STEP.finditer(text, start):
        if found["open"]:
            depth += 1
        elif found["close"]:
            depth -= 1
            if depth == 0:
                return found.end()
    return -1


def split(text: str) -> list[str]:
    """The parts of ``text`` between its commas outside of brackets, template arguments among these."""
    parts, depth, angles, start = [], 0, 0, 0
    for found in re.compile(_STEP.pattern + "|(?P<angle>[<>])", _FLAGS).finditer(text):
        if found["open"]:
            depth += 1
        elif found["close"]:
            depth -= 1
        elif found["angle"] and depth == 0:
            angles = max(0, angles + (1 if found["angle"] == "<" else -1))
        elif found["comma"] and depth == 0 and angles == 0:
            parts.append(text[start : found.start()])
            start = found.end()
    parts.append(text[start:])
    return [part.strip() for part in parts] if "".join(parts).strip() else []


class Location(NamedTuple):
    """A line of an author's file."""

    file: str
    line: int

    def __str__(self) -> str:
        """As compilers write it."""
        return f"{self.file}:{self.line}"


class Places:
    """Which line of which file each character of a preprocessed text is of."""

    def __init__(self, text: str, file: str) -> None:
        """``file`` is where the text is from as far as no line marker says otherwise."""
        self._text = text
        self._starts, self._lines, self._files, self.is_system = [0], [1], [file], [False]
        for found in _MARKER.finditer(text):
            self._starts.append(found.end() + 1)
            self._lines.append(int(found[1]))
            self._files.append(re.sub(r"\\(.)", r"\1", found[2]))
            self.is_system.append("3" in found[3].split())

    def at(self, index: int) -> Location:
        """The place of the character at ``index``."""
        i = bisect_right(self._starts, index) - 1
        return Location(
            self._files[i], self._lines[i] + self._text.count("\n", self._starts[i], index)
        )

    def segments(self) -> list[tuple[int, int]]:
        """Where the text of authors' files begins and ends: all but that of system headers."""
        ends = [*self._starts[1:], len(self._text)]
        return [
            (start, end)
            for start, end, skipped in zip(self._starts, ends, self.is_system, strict=True)
            if not skipped and start < end
        ]

    def declares_in_c(self, name: str) -> bool:
        """Whether a system header declares a function of C with that name."""
        declared = re.compile(rf"\bextern\b[^;{{}}()]*\b{name}\s*\(")
        ends = [*self._starts[1:], len(self._text)]
        return any(
            declared.search(self._text, start, end)
            for start, end, is_system in zip(self._starts, ends, self.is_system, strict=True)
            if is_system
        )
