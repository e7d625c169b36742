"""The environment variables of the package: ``environment.tsv`` has a row for each, and Python reads them here only.

A variable that is empty counts as one that is not set. A value that a variable does not take is an error when
torch_npu is loaded, or when the variable is read. ``docs/environment.md`` is written from the table; the linter
compares it with the sources, those in C++ as well.
"""

import csv
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

_TABLE = Path(__file__).with_name("environment.tsv")


class VariableError(ValueError):
    """A variable has a value that it does not take; the text says the variable, the value and what is allowed."""


class Variable(NamedTuple):
    """A row of the table.

    Attributes:
        name: of the variable; without effect, a trailing ``*`` stands for any ending.
        type: ``flag``, ``choice``, ``integer``, ``pair``, ``text``, or ``ignored`` for one without effect.
        default: what it is where it is not set; empty where that is decided at run time.
        origin: who defined it: ``official`` (the official torch_npu or CANN), ``own``, ``torch`` or ``system``.
        read_by: ``python``, ``c++``, both with a comma between, or nothing of the package.
        values: what it takes: words of a choice, ``0 to 16`` of an integer, a description of a text.
        meaning: what it does; without effect, what it is for in the official torch_npu.
        reason: why it has no effect.
    """

    name: str
    type: str
    default: str
    origin: str
    read_by: str
    values: str
    meaning: str
    reason: str


def read_table(path: Path = _TABLE) -> dict[str, Variable]:
    """The rows of the table by name."""
    with path.open(newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(rows)
        return {row[0]: Variable(*row) for row in rows}


VARIABLES = read_table()


def _flag(text: str, _: str) -> bool | None:
    return {"0": False, "1": True}.get(text)


def _choice(text: str, values: str) -> str | None:
    return text if text in values.split(", ") else None


def _integer(text: str, values: str) -> int | None:
    least, most = (int(number) for number in values.split(" to "))
    is_number = text.isascii() and text.isdecimal()
    return int(text) if is_number and least <= int(text) <= most else None


def _pair(text: str, _: str) -> tuple[int, int] | None:
    words = [word.strip() for word in text.split(",")]
    if len(words) != 2 or not all(word.isascii() and word.isdecimal() for word in words):
        return None
    return int(words[0]), int(words[1])


def _text(text: str, _: str) -> str:
    return text


# By type: the parsed value, None where the variable does not take the text.
_PARSERS: dict[str, Callable[[str, str], object]] = {
    "flag": _flag,
    "choice": _choice,
    "integer": _integer,
    "pair": _pair,
    "text": _text,
}


def _given(name: str) -> str:
    return os.environ.get(name, "")


def _read(name: str, type_name: str) -> object:
    variable = VARIABLES[name]
    if variable.type != type_name:
        raise TypeError(f"{name} is read as {type_name}, and its row says {variable.type}")
    text = _given(name) or variable.default
    if not text:
        return ""
    value = _PARSERS[type_name](text, variable.values)
    if value is None:
        allowed = "0, 1" if type_name == "flag" else variable.values
        if type_name in ("flag", "choice"):
            allowed = " or ".join(allowed.rsplit(", ", 1))
        raise VariableError(f"{name}={text} is not understood: it takes {allowed}")
    return value


def is_set(name: str) -> bool:
    """Whether the variable is set, and not empty."""
    return bool(_given(VARIABLES[name].name))


def flag(name: str) -> bool:
    """Whether a variable of type ``flag`` is 1.

    Raises:
        VariableError: it is neither 0 nor 1.
    """
    return bool(_read(name, "flag"))


def choice(name: str) -> str:
    """The word of a variable of type ``choice``; empty where it is not set and has no default.

    Raises:
        VariableError: it is no word of the row.
    """
    return str(_read(name, "choice"))


def integer(name: str) -> int:
    """The number of a variable of type ``integer``.

    Raises:
        VariableError: it is no whole number, or not in the row's range.
    """
    return int(str(_read(name, "integer")))


def pair(name: str) -> tuple[int, int]:
    """The numbers of a variable of type ``pair``.

    Raises:
        VariableError: it is not two whole numbers with a comma between.
    """
    return _read(name, "pair")  # type: ignore[return-value]


def text(name: str) -> str:
    """The text of a variable of type ``text``; empty where it is not set and has no default."""
    return str(_read(name, "text"))


def check() -> None:
    """Checks all variables that Python reads.

    Raises:
        VariableError: one has a value that it does not take.
    """
    for variable in VARIABLES.values():
        if "python" in variable.read_by and is_set(variable.name):
            _read(variable.name, variable.type)


def all_set() -> list[tuple[str, str]]:
    """Names and texts of the table's variables that are set and have an effect."""
    return [(v.name, _given(v.name)) for v in VARIABLES.values() if not v.reason and is_set(v.name)]


def _set_names(variable: Variable, environment: Mapping[str, str]) -> list[str]:
    if not variable.name.endswith("*"):
        return [variable.name] if variable.name in environment else []
    return sorted(name for name in environment if name.startswith(variable.name[:-1]))


def _fault(variable: Variable, value: str) -> str:
    if not variable.values or value in variable.values.split(", "):
        return ""
    return f"Get env {variable.name} not in [{variable.values}]. "


def ignored(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence for each variable of ``environment`` that has no effect."""
    return [
        _fault(variable, environment[name])
        + f"{name}={environment[name]} has no effect: {variable.reason}"
        for variable in VARIABLES.values()
        if variable.reason
        for name in _set_names(variable, environment)
    ]
