"""``python -m codegen.support --yaml F --output FOLDER``: the operators as Markdown, tables and a page a family."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from codegen import parse
from codegen.model import AclnnOperator, CustomOperator
from codegen.pages import pages
from codegen.table import code, table

# The folder of the pages of families, in the output.
PAGES = "npu_operators"
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
    """Writes ``generated_operators.md``, ``generated_custom.md`` and the pages of families.

    Returns:
        0, or 1 where the YAML cannot be used.
    """
    parser = argparse.ArgumentParser(prog="python -m codegen.support", description=__doc__)
    parser.add_argument("--yaml", type=Path, required=True, help="npu_native_functions.yaml")
    parser.add_argument("--output", type=Path, required=True, help="folder for the tables")
    options = parser.parse_args(arguments)
    try:
        found = parse.read(options.yaml, parse.native_functions())
    except parse.ParseError as error:
        print(error, file=sys.stderr)
        return 1
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "generated_operators.md").write_text(operators(found.aclnn))
    (options.output / "generated_custom.md").write_text(custom(found.custom))
    folder = options.output / PAGES
    folder.mkdir(exist_ok=True)
    for name, text in pages(found.custom).items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
