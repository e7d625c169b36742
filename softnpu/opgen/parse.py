"""Reads an operator table. Every error names file and line.

A table is a text file. Lines that begin with ``#`` and empty lines are ignored. The first lines name the headers that
the plans need::

    include ops/math/elementwise/binary.h

Every other line is an operator, its C arguments in order, and the call that plans it (in namespace softnpu; a pointer to
the Plan is appended)::

    aclnnAdd(Tensor self, Tensor other, Scalar alpha, Tensor! out) = add(self, other, alpha, out)

An elementwise function has its own row, before the operators that use it; each part but the name is optional::

    function Add, in arithmetic, costs 1, rounds constants, keeps numbers  # a + k0 b

An operator that is called by the name of its type has a row of its own, see ``softnpu.opgen.types``.

``?`` marks an object that may be null, ``!`` one whose memory is written. A plan takes objects by reference, and those
that may be null by pointer.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from softnpu.opgen.model import OBJECTS, VALUES, Argument, Function, Operator, Table
from softnpu.opgen.types import OperatorType, RowError, parse_row

_ROW = re.compile(r"(?P<name>\w+)\((?P<arguments>.*?)\)\s*=\s*(?P<plan>.+)")
_ARGUMENT = re.compile(r"(?P<type>\w+)(?P<marks>[?!]*)\s+(?P<name>\w+)")


class TableError(Exception):
    """A malformed table; the text names file, line and the known words."""


def _argument(text: str, where: str) -> Argument:
    match = _ARGUMENT.fullmatch(text)
    if match is None:
        raise TableError(f"{where}: argument {text!r} is not 'Type name'")
    kind, marks = match["type"], match["marks"]
    if kind not in OBJECTS and kind not in VALUES:
        known = ", ".join([*OBJECTS, *VALUES])
        raise TableError(f"{where}: unknown type {kind!r}; known are {known}")
    if marks and kind not in OBJECTS:
        raise TableError(f"{where}: {text!r} is passed by value: it cannot be optional or written")
    return Argument(match["name"], kind, optional="?" in marks, written="!" in marks)


def _function(line: str, where: str) -> Function:
    text, _, doc = line.partition("  # ")
    name, *parts = (part.strip() for part in text.removeprefix("function ").split(","))
    if not re.fullmatch(r"[A-Z]\w*", name):
        raise TableError(f"{where}: the function {name!r} is no name of a functor")
    file, cost, flags = None, 1, set()
    for part in parts:
        if match := re.fullmatch(r"in (\w+)", part):
            file = match[1]
        elif match := re.fullmatch(r"costs (\d+)", part):
            cost = int(match[1])
        elif part in ("rounds constants", "keeps numbers"):
            flags.add(part)
        else:
            raise TableError(
                f"{where}: unknown part {part!r}; known are 'in FILE', 'costs N', 'rounds constants', "
                "'keeps numbers'"
            )
    rounds, keeps = "rounds constants" in flags, "keeps numbers" in flags
    return Function(name, file, cost, rounds, keeps, doc.strip())


def _operator(line: str, where: str) -> Operator:
    match = _ROW.fullmatch(line)
    if match is None:
        raise TableError(f"{where}: not 'aclnnName(arguments) = plan(...)': {line!r}")
    if not match["name"].startswith(("aclnn", "softnpu")):
        raise TableError(f"{where}: {match['name']!r} does not begin with 'aclnn' or 'softnpu'")
    texts = [text.strip() for text in match["arguments"].split(",") if text.strip()]
    arguments = tuple(_argument(text, where) for text in texts)
    names = [argument.name for argument in arguments]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{where}: two arguments are called {name!r}")
    if not match["plan"].endswith(")"):
        raise TableError(f"{where}: the plan {match['plan']!r} is not a call")
    return Operator(match["name"], arguments, match["plan"], int(where.rpartition(":")[2]))


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        line = line.strip()
        if line and not line.startswith("#"):
            yield line, f"{path}:{number}"


def parse(path: Path) -> Table:
    """The table at ``path``; raises TableError."""
    includes: list[str] = []
    operators: dict[str, Operator] = {}
    functions: dict[str, Function] = {}
    types: dict[str, OperatorType] = {}
    for line, where in _lines(path):
        if line.startswith("include "):
            if operators:
                raise TableError(f"{where}: includes come before the operators")
            includes.append(line.removeprefix("include ").strip())
            continue
        if line.startswith("function "):
            function = _function(line, where)
            if function.name in functions:
                raise TableError(f"{where}: the function {function.name} is there twice")
            functions[function.name] = function
            continue
        if line.startswith("type "):
            try:
                row = parse_row(line, int(where.rpartition(":")[2]))
            except RowError as error:
                raise TableError(f"{where}: {error}") from None
            if row.name in types:
                raise TableError(f"{where}: the type {row.name} is there twice")
            types[row.name] = row
            continue
        operator = _operator(line, where)
        if operator.name in operators:
            raise TableError(f"{where}: {operator.name} is there twice")
        operators[operator.name] = operator
    return Table(
        str(path),
        tuple(includes),
        tuple(operators.values()),
        tuple(functions.values()),
        tuple(types.values()),
    )
