"""The kernel's side of tiling structures: plain structs, from the lines BEGIN_TILING_DATA_DEF … END_TILING_DATA_DEF."""

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import AscendcError
from .text import Location, Places, pattern

_MACRO = pattern(
    r"\b(?P<macro>BEGIN_TILING_DATA_DEF|TILING_DATA_FIELD_DEF(?:_ARR|_STRUCT)?|REGISTER_TILING_DATA_CLASS)"
    r"\s*\((?P<arguments>[^()]*)\)|\b(?P<finish>END_TILING_DATA_DEF)\b"
)
_COUNTS = {
    "BEGIN_TILING_DATA_DEF": 1,
    "TILING_DATA_FIELD_DEF": 2,
    "TILING_DATA_FIELD_DEF_ARR": 3,
    "TILING_DATA_FIELD_DEF_STRUCT": 2,
    "REGISTER_TILING_DATA_CLASS": 2,
}
# Structures that the kernels' headers have.
_OF_KERNELS = ("TCubeTiling",)
# Defined, with the name of the source, where it is compiled.
SOURCE = "SOFTNPU_TILING_OF_"
_NUMBERS = re.compile(r"^(?:u?int(?:8|16|32|64)_t|float|double|bool|char|int|unsigned|half)$")


@dataclass(frozen=True)
class Header:
    """What a header for the host describes.

    Attributes:
        text: the C++ of its structs.
        default: the struct that ``GET_TILING_DATA`` reads unless the source is named like an operator: the first that
            is registered, or else the last one.
        operators: the struct of each operator that is registered.
    """

    text: str
    default: str
    operators: dict[str, str]


def operator_of(name: str) -> str:
    """An operator's or a source's name without what the two differ in: scatter_mean_div, ScatterMeanDiv."""
    return re.sub(r"\W|_", "", name).lower()


def structs(text: str, file: str) -> Header:
    """Reads a header for the host.

    Args:
        text: of a header for the host.
        file: its name, for errors.

    Raises:
        AscendcError: a line is incomplete, or a field is of a structure that the header does not describe.
    """
    places = Places(text, file)
    lines: list[str] = []
    known: list[str] = [*_OF_KERNELS]
    registered: list[tuple[str, str]] = []
    current = ""
    for found in _MACRO.finditer(text):
        location = places.at(found.start())
        if found["finish"]:
            if not current:
                raise AscendcError(f"{location}: END_TILING_DATA_DEF without BEGIN_TILING_DATA_DEF")
            lines.append("};")
            known.append(current)
            current = ""
        elif macro := found["macro"]:
            current = _line(
                macro, found["arguments"], location, current, (lines, known, registered)
            )
    if current:
        raise AscendcError(f"{file}: {current} has no END_TILING_DATA_DEF")
    if len(known) == len(_OF_KERNELS):
        raise AscendcError(f"{file} has no BEGIN_TILING_DATA_DEF: --tiling takes the host's header")
    operators = {operator: name for operator, name in registered if name in known}
    default = next(iter(operators.values()), known[-1])
    return Header("\n".join(lines), default, operators)


def _line(
    macro: str,
    arguments: str,
    location: Location,
    current: str,
    out: tuple[list[str], list[str], list[tuple[str, str]]],
) -> str:
    """Adds what one macro stands for; returns the name of the struct that is open then."""
    lines, known, registered = out
    parts = [part.strip() for part in arguments.split(",")]
    if len(parts) != _COUNTS[macro] or not all(parts):
        raise AscendcError(
            f"{location}: {macro} takes {_COUNTS[macro]} arguments, not ({arguments})"
        )
    if macro == "REGISTER_TILING_DATA_CLASS":
        registered.append((parts[0], parts[1]))
        return current
    if macro == "BEGIN_TILING_DATA_DEF":
        if current:
            raise AscendcError(f"{location}: {current} has no END_TILING_DATA_DEF yet")
        lines += [f'#line {location.line} "{location.file}"', f"struct {parts[0]} {{"]
        return parts[0]
    if not current:
        raise AscendcError(f"{location}: {macro} outside of BEGIN_TILING_DATA_DEF")
    lines.append(f'#line {location.line} "{location.file}"')
    if macro == "TILING_DATA_FIELD_DEF_STRUCT":
        if parts[0] not in known:
            raise AscendcError(
                f"{location}: no structure {parts[0]} is described before this line: describe it with"
                " BEGIN_TILING_DATA_DEF (of those of CANN's objects there is TCubeTiling alone)"
            )
        lines.append(f"  {parts[0]} {parts[1]};")
    elif not _NUMBERS.match(parts[0]):
        raise AscendcError(
            f"{location}: a tiling field is a number, not a {parts[0]}: use TILING_DATA_FIELD_DEF_STRUCT for structures"
        )
    elif macro == "TILING_DATA_FIELD_DEF_ARR":
        lines.append(f"  {parts[0]} {parts[2]}[{parts[1]}];")
    else:
        lines.append(f"  {parts[0]} {parts[1]};")
    return current


def write(headers: list[Path], output: Path) -> None:
    """Writes the header that kernels' preprocessing includes first, from the hosts' ``headers``.

    Raises:
        AscendcError: as structs() does, or a header cannot be read.
    """
    found: list[Header] = []
    for header in headers:
        try:
            found.append(structs(header.read_text(), str(header)))
        except OSError as error:
            raise AscendcError(f"--tiling={header}: {error.strerror}") from None
    lines = [
        "#pragma once",
        "#include <cstdint>",
        '#include "ascendc/cube_tiling.h"',
        *(header.text for header in found),
        "#if 0",
    ]
    for operator, name in {
        op: name for header in found for op, name in header.operators.items()
    }.items():
        lines += [
            f"#elif defined {SOURCE}{operator_of(operator)}",
            f"#define SOFTNPU_TILING_DATA {name}",
        ]
    lines += ["#else", f"#define SOFTNPU_TILING_DATA {found[0].default}", "#endif", ""]
    output.write_text("\n".join(lines))
