"""Writes headers and entry points: ``python -m softnpu.opgen --output FOLDER TABLE...``.

Below FOLDER: ``aclnnop/aclnn_<operator>.h`` for each operator, ``entries/<family>.cpp`` for each table, whose family is
the name of its folder; ``callers.cpp`` with all operators, for softnpu's tests; ``opgen/*.inc``, parts of C++ files that
follow from the functions of a table, and ``opgen/rows_<name>.inc`` for each table ``<name>.txt`` of operators that are
called by the name of their type.
"""

import argparse
import sys
from pathlib import Path

from softnpu.opgen import emit
from softnpu.opgen.parse import TableError, parse
from softnpu.opgen.types import rows


def _write(path: Path, text: str) -> None:
    """Writes `text` unless the file already has it, so that files that include it are not rebuilt."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(arguments: list[str]) -> int:
    """Writes the files; returns 1 and prints one sentence if a table is malformed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("tables", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    try:
        tables = {path: parse(path) for path in options.tables}
        owner: dict[str, Path] = {}
        for path, table in tables.items():
            for operator in table.operators:
                if operator.name in owner:
                    raise TableError(f"{path}: {operator.name} is in {owner[operator.name]} too")
                owner[operator.name] = path
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    for path, table in tables.items():
        for operator in table.operators:
            _write(options.output / "aclnnop" / operator.header, emit.header(operator))
        parts = options.output / "opgen"
        if table.types:
            part = parts / f"rows_{path.stem}.inc"
            _write(part, rows(table.types, str(path), str(part), path.stem))
            continue
        entries = options.output / "entries" / f"{path.parent.name}.cpp"
        _write(entries, emit.entries(table, str(entries)))
        if table.functions:
            for name, text in emit.functions(table.functions).items():
                _write(parts / name, text)
    _write(options.output / "callers.cpp", emit.callers(tables.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
