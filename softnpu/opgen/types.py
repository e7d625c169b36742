"""Rows of operators that are called by the name of their type, and of nodes of a graph.

A row names inputs, attributes and outputs, then the call that plans the operator, then the call that infers the types and
sizes of its results (both in namespace softnpu)::

    type ConcatD(x*; int concat_dim = 0) -> y = cat(x, concat_dim, y) infers concatenated(x, concat_dim, y)

Inputs: ``x`` a tensor in device memory, ``bias?`` one that may be omitted, ``x*`` any number of them (the last input),
``host shape`` integers in host memory, ``number axis`` one number in host memory, ``value other`` a tensor or one number.
Attributes have a type (bool, int, float, string, ints) and a default; lists are empty by default. A call uses the names
of the row, or ``of``, which is the whole call. ``takes blocked formats`` at the end: the planner does not depend on the
order of elements in memory. ``compiled by FUNCTION`` in place of the plan: the operator has its own compilation.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from softnpu.opgen.lines import numbered

# The word of an input's kind -> how a call binds its name, by its place.
_INPUTS = {
    "tensor": "const aclTensor& {name} = of.in({location});",
    "optional": "const aclTensor* const {name} = of.maybe({location});",
    "list": "const aclTensorList {name} = of.list({location});",
    "host": "const aclIntArray {name} = of.numbers({location});",
    "number": "const aclScalar {name} = of.number({location});",
    "value": "aclScalar {name}_number;\n  const MapInput {name} = of.value({location}, &{name}_number);",
}
# The type of an attribute -> its kind, and how a call reads it.
_ATTRIBUTES = {
    "bool": ("kBool", "const bool {name} = of.flag"),
    "int": ("kInt", "const int64_t {name} = of.integer"),
    "float": ("kFloat", "const double {name} = of.real"),
    "string": ("kString", "const std::string {name} = of.words"),
    "ints": ("kInts", "const aclIntArray {name} = of.integers"),
}
_ROW = re.compile(
    r"type (?P<name>\w+)\((?P<inputs>[^;)]*)(?:;(?P<attributes>[^)]*))?\) -> (?P<outputs>[\w, ]*?) ?"
    r"(?:= (?P<plan>.+?)|compiled by (?P<compile>\w+)) infers (?P<infer>.+?)(?P<blocked> takes blocked formats)?"
)


class RowError(Exception):
    """A malformed row; the text says which part."""


@dataclass(frozen=True)
class Input:
    """An input: its name and its kind, a key of ``_INPUTS``."""

    name: str
    kind: str


@dataclass(frozen=True)
class Attribute:
    """An attribute: its name, its type and its default as C++."""

    name: str
    type: str
    default: str


@dataclass(frozen=True)
class OperatorType:
    """One row."""

    name: str
    inputs: tuple[Input, ...]
    attributes: tuple[Attribute, ...]
    outputs: tuple[str, ...]
    plan: str | None
    compile: str | None
    infer: str
    takes_blocked_formats: bool
    line: int


def _input(text: str) -> Input:
    kind, _, name = text.rpartition(" ")
    if kind == "":
        kind = {"?": "optional", "*": "list"}.get(name[-1], "tensor")
    optional_value = kind in ("number", "value") and name.endswith("?")
    if not re.fullmatch(r"\w+", name.rstrip("?*")) or kind not in _INPUTS:
        raise RowError(
            f"the input {text!r} is not 'name', 'name?', 'name*' or 'host|number|value name'"
        )
    return Input(name if optional_value else name.rstrip("?*"), kind)


def _attribute(text: str) -> Attribute:
    match = re.fullmatch(r"(\w+) (\w+)(?: = (.+))?", text)
    if match is None or match[1] not in _ATTRIBUTES:
        raise RowError(f"the attribute {text!r} is not 'bool|int|float|string|ints name = default'")
    kind, name, default = match.groups()
    if default is None:
        default = {"bool": "false", "int": "0", "float": "0", "string": '""', "ints": "0"}[kind]
    return Attribute(name, kind, default)


def _parts(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def parse_row(text: str, line: int) -> OperatorType:
    """The row of ``text``; raises RowError."""
    match = _ROW.fullmatch(text)
    if match is None:
        raise RowError(
            "not 'type Name(inputs; attributes) -> outputs = plan(...) infers rule(...)'"
        )
    return OperatorType(
        match["name"],
        tuple(map(_input, _parts(match["inputs"]))),
        tuple(map(_attribute, _parts(match["attributes"]))),
        tuple(_parts(match["outputs"])),
        match["plan"],
        match["compile"],
        match["infer"],
        match["blocked"] is not None,
        line,
    )


def _bindings(row: OperatorType, call: str) -> str:
    used = set(re.findall(r"\w+", re.sub(r'"[^"]*"', "", call)))
    lines = []
    for location, given in enumerate(row.inputs):
        if given.name in used:
            lines.append(_INPUTS[given.kind].format(name=given.name, location=location))
    for attribute in row.attributes:
        if attribute.name in used:
            read = _ATTRIBUTES[attribute.type][1].format(name=attribute.name)
            lines.append(f'{read}("{attribute.name}");')
    for location, name in enumerate(row.outputs):
        if name in used:
            lines.append(f"aclTensor& {name} = of.out({location});")
    return "".join(f"  {line}\n" for line in lines)


def _function(row: OperatorType, path: str, kind: str, call: str) -> str:
    plan = kind == "plan"
    body = f"{call[:-1]}{', ' if not call.endswith('()') else ''}plan)" if plan else call
    parameters = "Operands& of, Plan* plan" if plan else "Operands& of"
    return (
        f"Status {kind}_of_{row.name}({parameters}) {{\n{_bindings(row, call)}"
        f'#line {row.line} "{path}"\n  return {body};\n#line back\n}}\n'
    )


def _array(kind: str, name: str, values: list[str]) -> str:
    return f"constexpr {kind} {name}[] = {{{', '.join(values)}}};\n" if values else ""


def _row(row: OperatorType) -> str:
    name = row.name
    inputs = [
        f'{{"{given.name.rstrip("?")}", OperandKind::k{given.kind.capitalize()}, '
        f"{str(given.kind == 'optional' or given.name.endswith('?')).lower()}}}"
        for given in row.inputs
    ]
    attributes = []
    for attribute in row.attributes:
        kind = _ATTRIBUTES[attribute.type][0]
        value = f"0, {attribute.default}" if attribute.type == "string" else attribute.default
        attributes.append(f'{{"{attribute.name}", AttributeKind::{kind}, {value}}}')
    return (
        _array("OperandRow", f"kInputs{name}", inputs)
        + _array("AttributeRow", f"kAttributes{name}", attributes)
        + _array("const char*", f"kOutputs{name}", [f'"{output}"' for output in row.outputs])
    )


def _entry(row: OperatorType) -> str:
    name = row.name
    arrays = ", ".join(
        f"k{kind}{name}" if values else "{}"
        for kind, values in (
            ("Inputs", row.inputs),
            ("Attributes", row.attributes),
            ("Outputs", row.outputs),
        )
    )
    plan = f"&plan_of_{name}" if row.plan else "nullptr"
    compile_by = f"&{row.compile}" if row.compile else "nullptr"
    blocked = str(row.takes_blocked_formats).lower()
    return f'    {{"{name}", {arrays}, {plan}, &infer_of_{name}, {compile_by}, {blocked}}},\n'


def rows(types: Iterable[OperatorType], path: str, name: str, family: str) -> str:
    """The C++ part with the rows of a family, for its file in ops/registry; the names are those of ``Operands``."""
    found = list(types)
    text = "// Written by softnpu/opgen.\n\nnamespace softnpu {\nnamespace {\n\n"
    for row in found:
        if row.plan is not None:
            text += _function(row, path, "plan", row.plan)
        text += _function(row, path, "infer", row.infer) + _row(row)
    array = "k" + "".join(word.capitalize() for word in family.split("_")) + "Rows"
    entries = "".join(map(_entry, found))
    text += f"\nconstexpr OperatorRow {array}[] = {{\n{entries}}};\n\n}}  // namespace\n\n"
    text += f"std::span<const OperatorRow> {family}_rows() {{ return {array}; }}\n\n}}  // namespace softnpu\n"
    return numbered(text, name)
