"""Writes the C++ file that compares our headers with the tables while it is compiled.

Run as ``python -m softnpu.abi.checks --output FILE [--tables FOLDER]``.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from softnpu.abi import tables

_HEADERS = (
    "acl/acl.h",
    "acl/acl_op_compiler.h",
    "acl/acl_prof.h",
    "acl/acl_tdt.h",
    "acl/ops/acl_dvpp.h",
    "dcmi/dcmi_interface_api.h",
    "driver/ascend_hal.h",
    "hccl/hccl.h",
    "mstx/ms_tools_ext.h",
    "profiling/aprof_pub.h",
    "runtime/rt.h",
    "softnpu/dump_parser.h",
)


def _function(function: tables.Function) -> str:
    path, _, line = function.location.rpartition(":")
    # Compiler errors name the row.
    row = f'#line {line} "{path}"\n' if path else ""
    pointer = f"{function.returns} (*)({function.parameters})"
    return (
        f"{row}static_assert(std::is_same_v<decltype(&{function.name}), {pointer}>,\n"
        f'              "{function.name} has another type than functions.tsv says");'
    )


def _constant(constant: tables.Constant) -> str:
    same = f"static_cast<int64_t>({constant.name}) == static_cast<int64_t>({constant.value})"
    lines = [f'static_assert({same}, "{constant.name} has another value than constants.tsv says");']
    if constant.kind not in ("const", "define"):
        lines.append(
            f"static_assert(std::is_same_v<decltype({constant.name}), {constant.kind}>,\n"
            f'              "{constant.name} is of another enum than constants.tsv says");'
        )
    return "\n".join(lines)


def _struct(struct: tables.Struct) -> str:
    mirror = f"Mirror_{struct.name}"
    says = f'"{struct.name} lies otherwise than structs.tsv says"'
    fields = "".join(f"  {field};\n" for field in struct.fields)
    lines = [
        f"struct {mirror} {{\n{fields}}};",
        f"static_assert(sizeof({struct.name}) == sizeof({mirror}), {says});",
        f"static_assert(alignof({struct.name}) == alignof({mirror}), {says});",
    ]
    for name in struct.names:
        lines += [
            f"static_assert(offsetof({struct.name}, {name}) == offsetof({mirror}, {name}), {says});",
            f"static_assert(std::is_same_v<decltype({struct.name}::{name}), decltype({mirror}::{name})>, {says});",
        ]
    return "\n".join(lines)


def checks(
    functions: Iterable[tables.Function],
    constants: Iterable[tables.Constant],
    structs: Iterable[tables.Struct],
) -> str:
    """The file's text. It compiles if the headers agree with the tables."""
    parts = [
        "// Written by softnpu/abi/checks.py from the tables beside it.\n",
        "#include <cstddef>\n#include <cstdint>\n#include <type_traits>\n",
        "".join(f'#include "{header}"\n' for header in _HEADERS),
        "namespace {\n",
        *map(_constant, constants),
        *map(_struct, structs),
        # Last: text after a #line has the table's line numbers.
        *(_function(function) for function in functions if function.has_prototype),
        "\n}  // namespace\n",
    ]
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Writes the file; returns 1 and prints one sentence if a table is malformed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tables", type=Path, default=tables.FOLDER)
    options = parser.parse_args(arguments)
    try:
        text = checks(
            tables.functions(options.tables / "functions.tsv"),
            tables.constants(options.tables / "constants.tsv"),
            tables.structs(options.tables / "structs.tsv"),
        )
    except tables.TableError as error:
        print(error, file=sys.stderr)
        return 1
    options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
