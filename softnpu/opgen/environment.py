"""Writes the rows of environment variables that C++ reads: ``python -m softnpu.opgen.environment --output FILE TABLE``.

The file is a part of ``softnpu/include/softnpu/environment.h``: an initializer of a ``Variable`` for each row that has an
effect.
"""

import argparse
import csv
import sys
from pathlib import Path

from softnpu.opgen.parse import TableError

_TYPES = {
    "flag": "kFlag",
    "choice": "kChoice",
    "integer": "kInteger",
    "pair": "kPair",
    "text": "kText",
}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _range(values: str, where: str) -> str:
    words = values.split(" to ")
    if len(words) != 2 or not all(word.isascii() and word.isdecimal() for word in words):
        raise TableError(f"{where}: an integer takes 'least to most', not '{values}'")
    return f", {words[0]}u, {words[1]}u"


def initializers(text: str, name: str) -> str:
    """C++ of the table ``text``, a line for each variable that has an effect.

    Raises TableError, with the line of the table ``name``, for rows of a name that is there before, an unknown type or
    integers without a range.
    """
    lines, seen = [], {}
    rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    next(rows)
    for number, (variable, kind, default, _, _, values, *_) in enumerate(rows, start=2):
        where = f"{name}:{number}"
        if variable in seen:
            raise TableError(f"{where}: {variable} has a row already, in line {seen[variable]}")
        seen[variable] = number
        if kind == "ignored":
            continue
        if kind not in _TYPES:
            raise TableError(f"{where}: no type {kind}; there are {', '.join(_TYPES)}, ignored")
        bounds = _range(values, where) if kind == "integer" else ""
        parts = f"{_quoted(variable)}, Type::{_TYPES[kind]}, {_quoted(default)}, {_quoted(values)}"
        lines.append(f"{{{parts}{bounds}}},\n")
    return "".join(lines)


def main(arguments: list[str]) -> int:
    """Writes the file; returns 1 and prints one sentence if the table is malformed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("table", type=Path)
    options = parser.parse_args(arguments)
    try:
        result = initializers(options.table.read_text(), str(options.table))
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    options.output.parent.mkdir(parents=True, exist_ok=True)
    text = f"// From {options.table.name}.\n{result}"
    # Who includes it need not be compiled again for another column.
    if not options.output.exists() or options.output.read_text() != text:
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
