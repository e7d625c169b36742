"""``python -m codegen.support --yaml F [--output FOLDER] [--pages FOLDER]``: the operators as Markdown, tables and a page a family."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from codegen import parse
from codegen.model import AclnnOperator, CustomOperator
from codegen.pages import pages
from codegen.table import code, table

# The order in which data types are listed.
_DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "complex64",
    "complex128",
    "complex32",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
)


def _dtypes(operator: AclnnOperator) -> str:
    """The data types of the first tensor."""
    taken = operator.dtypes[0][1] if operator.dtypes else None
    if taken is None:
        return "all"
    return ", ".join([*(d for d in _DTYPES if d in taken), *sorted(taken.difference(_DTYPES))])


def operators(found: Iterable[AclnnOperator]) -> str:
    """A row for each operator, with all its forms and the functions that run it."""
    rows = [
        (
            ", ".join(code(member.operator) for member in operator.members),
            ", ".join(dict.fromkeys(code(route.function) for route in operator.routes)),
            _dtypes(operator),
        )
        for operator in sorted(found, key=lambda o: o.name.lstrip("_"))
    ]
    return table(("operators", "aclnn functions", "data types"), rows)


def custom(found: Iterable[CustomOperator]) -> str:
    """A row for each operator of namespace npu."""
    rows = [
        (code(operator.name), "yes" if operator.gradients is not None else "no")
        for operator in sorted(found, key=lambda o: o.name)
    ]
    return table(("operator", "derivative"), rows)


def main(arguments: list[str]) -> int:
    """Writes ``operators.md`` and ``custom.md`` into one folder, the pages of families into another.

    Returns:
        0, or 1 where the YAML cannot be used.
    """
    parser = argparse.ArgumentParser(prog="python -m codegen.support", description=__doc__)
    parser.add_argument("--yaml", type=Path, required=True, help="npu_native_functions.yaml")
    parser.add_argument("--output", type=Path, help="folder for the tables")
    parser.add_argument(
        "--pages", type=Path, help="folder for the pages, of which others are removed"
    )
    options = parser.parse_args(arguments)
    try:
        found = parse.read(options.yaml, parse.native_functions())
    except parse.ParseError as error:
        print(error, file=sys.stderr)
        return 1
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "operators.md").write_text(operators(found.aclnn))
        (options.output / "custom.md").write_text(custom(found.custom))
    if options.pages is not None:
        options.pages.mkdir(parents=True, exist_ok=True)
        written = pages(found.custom)
        for old in options.pages.glob("*.md"):
            if old.name not in written:
                old.unlink()
        for name, text in written.items():
            (options.pages / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
