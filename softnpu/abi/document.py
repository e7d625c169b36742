"""Writes docs/acl.md: what softnpu has of CANN's C ABI, header by header.

Run as ``python -m softnpu.abi.document``.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from softnpu.abi import tables

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "softnpu" / "include"
DOCUMENT = ROOT / "docs" / "acl.md"

_HEAD = """\
# CANN's C ABI in softnpu

Written by `./dev abi` from `softnpu/abi/functions.tsv`; change that table, not this file.

- **done**: does what CANN's function does.
- **benign**: checks its arguments and has nothing to do on a software NPU.
- **not there yet**: reads no argument, returns `ACL_ERROR_FEATURE_UNSUPPORTED` (`RT_ERROR_FEATURE_NOT_SUPPROT` for `rt…`,
  null for pointers), and `aclGetRecentErrMsg` says what is missing and what to do instead.
"""
_TITLES = {"benign": "benign", "unsupported": "not there yet"}


def _declared() -> dict[str, Path]:
    """The header that declares each name."""
    return {
        name: header
        for header in sorted(INCLUDE.rglob("*.h"))
        for name in re.findall(r"\b(\w+)\(", re.sub(r"//.*", "", header.read_text()))
    }


def _subject(header: Path) -> str:
    """The first sentence of the comment at the top of the header."""
    lines = header.read_text().splitlines()
    comment = " ".join(line[2:].strip() for line in lines[:8] if line.startswith("//"))
    return comment.split(". ")[0].rstrip(".") + "."


def _names(functions: Iterable[tables.Function]) -> str:
    return ", ".join(f"`{function.name}`" for function in functions)


def _summary(functions: list[tables.Function]) -> str:
    lines = [
        "| library | done | benign | not there yet | official torch_npu 2.13.0 links | looks up by name |",
        "|---|---|---|---|---|---|",
    ]
    libraries = sorted({function.library for function in functions})
    for library in [*libraries, "together"]:
        own = [f for f in functions if library in (f.library, "together")]
        status = Counter(f.status for f in own)
        wheel = Counter(f.wheel for f in own)
        cells = [*(status[s] for s in tables.STATUSES), wheel["link"], wheel["dlsym"]]
        lines.append(f"| {library} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _section(title: str, subject: str, functions: list[tables.Function]) -> str:
    text = f"## {title}\n{subject}\n"
    if done := [f for f in functions if f.status == "done"]:
        text += f"\n**done**: {_names(done)}.\n"
    rest = {(f.status, f.note): None for f in functions if f.status != "done"}
    if rest:
        text += "\n| function | | why |\n|---|---|---|\n"
    for status, note in sorted(rest):
        own = [f for f in functions if (f.status, f.note) == (status, note)]
        text += f"| {_names(own)} | {_TITLES[status]} | {note} |\n"
    return text


def document(functions: list[tables.Function]) -> str:
    """The document's text.

    Raises:
        TableError: a prototype is in no header.
    """
    declared = _declared()
    for f in functions:
        if f.has_prototype and f.name not in declared:
            raise tables.TableError(f"{f.location}: no header of softnpu/include declares {f.name}")
    headers = sorted({declared[f.name] for f in functions if f.name in declared})
    sections = [
        _section(
            f"`{header.relative_to(ROOT).as_posix()}`",
            _subject(header),
            [f for f in functions if declared.get(f.name) == header],
        )
        for header in headers
    ]
    if homeless := [f for f in functions if f.name not in declared]:
        sections.append(
            _section("In no header", "No source states the arguments of these.", homeless)
        )
    return "\n".join([_HEAD, _summary(functions), *sections])


def main() -> int:
    """Writes the document; returns 1 and prints one sentence if a table is invalid."""
    try:
        text = document(tables.functions())
    except tables.TableError as error:
        print(error, file=sys.stderr)
        return 1
    DOCUMENT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
