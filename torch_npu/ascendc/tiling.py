"""The kernel's side of tiling structures: plain structs, from the lines BEGIN_TILING_DATA_DEF … END_TILING_DATA_DEF."""

import re
from pathlib import Path

from .errors import AscendcError
from .text import Place, Places, pattern

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
_NUMBERS = re.compile(r"^(?:u?int(?:8|16|32|64)_t|float|double|bool|char|int|unsigned|half)$")


def structs(text: str, file: str) -> str:
    """The C++ of the structs that a header describes, and which one ``GET_TILING_DATA`` reads.

    ``SOFTNPU_TILING_DATA`` is the class that REGISTER_TILING_DATA_CLASS names, or else the last one.

    Args:
        text: of a header for the host.
        file: its name, for errors.

    Raises:
        AscendcError: a line is incomplete, or a field is of a structure that the header does not describe.
    """
    places = Places(text, file)
    lines: list[str] = []
    known: list[str] = []
    registered: list[str] = []
    current = ""
    for found in _MACRO.finditer(text):
        place = places.at(found.start())
        if found["finish"]:
            if not current:
                raise AscendcError(f"{place}: END_TILING_DATA_DEF without BEGIN_TILING_DATA_DEF")
            lines.append("};")
            known.append(current)
            current = ""
        elif macro := found["macro"]:
            current = _line(macro, found["arguments"], place, current, (lines, known, registered))
    if current:
        raise AscendcError(f"{file}: {current} has no END_TILING_DATA_DEF")
    if not known:
        raise AscendcError(f"{file} has no BEGIN_TILING_DATA_DEF: --tiling takes the host's header")
    chosen = [name for name in registered if name in known] or known
    return "\n".join(
        [*lines, f"#define SOFTNPU_TILING_DATA {chosen[0] if registered else chosen[-1]}", ""]
    )


def _line(
    macro: str,
    arguments: str,
    place: Place,
    current: str,
    out: tuple[list[str], list[str], list[str]],
) -> str:
    """Adds what one macro stands for; returns the name of the struct that is open then."""
    lines, known, registered = out
    parts = [part.strip() for part in arguments.split(",")]
    if len(parts) != _COUNTS[macro] or not all(parts):
        raise AscendcError(f"{place}: {macro} takes {_COUNTS[macro]} arguments, not ({arguments})")
    if macro == "REGISTER_TILING_DATA_CLASS":
        registered.append(parts[1])
        return current
    if macro == "BEGIN_TILING_DATA_DEF":
        if current:
            raise AscendcError(f"{place}: {current} has no END_TILING_DATA_DEF yet")
        lines += [f'#line {place.line} "{place.file}"', f"struct {parts[0]} {{"]
        return parts[0]
    if not current:
        raise AscendcError(f"{place}: {macro} outside of BEGIN_TILING_DATA_DEF")
    lines.append(f'#line {place.line} "{place.file}"')
    if macro == "TILING_DATA_FIELD_DEF_STRUCT":
        if parts[0] not in known:
            raise AscendcError(
                f"{place}: no structure {parts[0]} is described before this line: describe it with"
                " BEGIN_TILING_DATA_DEF (those of CANN's Matmul, sort and transpose objects do not exist here)"
            )
        lines.append(f"  {parts[0]} {parts[1]};")
    elif not _NUMBERS.match(parts[0]):
        raise AscendcError(
            f"{place}: a tiling field is a number, not a {parts[0]}: use TILING_DATA_FIELD_DEF_STRUCT for structures"
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
    parts = ["#pragma once", "#include <cstdint>"]
    for header in headers:
        try:
            parts.append(structs(header.read_text(), str(header)))
        except OSError as error:
            raise AscendcError(f"--tiling={header}: {error.strerror}") from None
    text = "\n".join(parts)
    names = re.findall(r"^#define SOFTNPU_TILING_DATA (\w+)$", text, re.MULTILINE)
    if len(headers) > 1:  # the first header's is the one that GET_TILING_DATA reads
        text = re.sub(r"^#define SOFTNPU_TILING_DATA \w+\n?", "", text, flags=re.MULTILINE)
        text += f"\n#define SOFTNPU_TILING_DATA {names[0]}\n"
    output.write_text(text)
