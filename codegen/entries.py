"""Reads sections ``official`` of ``native_functions/*.yaml``: operators that an aclnn function runs.

An entry is ``func`` and ``exec``; the other keys are for what does not follow from torch's schemas. ``KEYS`` has them
all. Every problem is a ``ParseError`` with file and line.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import yaml

from codegen.model import Attribute, Entry, ExecSpec, Section

KEYS = {
    "func": "the operator: the .out of a structured one, which stands for its functional and in-place forms",
    "exec": "the aclnn function, with its arguments where they are not the schema's and then the outputs",
    "exec_scalar": "{argument: exec}: the same where that argument is a number in host memory",
    "structured_inherit": "the structured operator whose shape rule this one shares",
    "rule": "the rule of aten/aclnn/rules.h that gives the outputs their sizes and types",
    "dtypes": "the types that aclnn takes, for all tensors or {argument: types}",
    "same_dtype": "arguments that aclnn takes only where their types are one",
    "when": "a function of aten/aclnn/conditions.h, with its arguments, that says whether aclnn takes the call",
    "keeps_format": "true or false: the first output is in NC1HWC0 where a tensor argument is",
}

GROUPS = {
    "floating": ("float16", "bfloat16", "float32", "float64"),
    "integral": ("int8", "int16", "int32", "int64", "uint8"),
    "complex": ("complex64", "complex128"),
}
# torch's names -> at::ScalarType's.
DTYPES = {
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}

_EXEC = re.compile(r"^(aclnn\w+)(?:\((.*)\))?$")
_TOKEN = re.compile(r"^(\w+)(?:\(([\w\s,]*)\))?$")

Fail = Callable[[yaml.Node, str], Exception]


class _Listed(Protocol):
    """What a list of entries needs of one."""

    @property
    def func(self) -> str: ...

    @property
    def line(self) -> int: ...

    @property
    def file(self) -> str: ...

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


T = TypeVar("T", bound=_Listed)


def split(text: str) -> list[str]:
    """At the commas that stand outside parentheses."""
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", text)]
    return [] if parts == [""] else parts


def read_attribute(text: str, node: yaml.Node, fail: Fail) -> Attribute:
    """A name, a number, or a function of names."""
    match = _TOKEN.match(text)
    if match is None:
        raise fail(node, f"'{text}' is no argument: write a name, a number, or function(name)")
    name, inner = match[1], match[2]
    if inner is None:
        return Attribute(name)
    return Attribute(name, tuple(split(inner)))


def _condition(node: yaml.Node, fail: Fail) -> Attribute:
    condition = read_attribute(str(node.value), node, fail)
    if condition.arguments is None:
        raise fail(node, "'when' takes a function of arguments: is_convolution(input, weight)")
    return condition


def read_call(node: yaml.Node, key: str, fail: Fail) -> ExecSpec:
    """An aclnn function, with its arguments where they stand there."""
    match = _EXEC.match(str(node.value)) if isinstance(node, yaml.ScalarNode) else None
    if match is None:
        raise fail(
            node, f"'{key}' takes an aclnn function: aclnnAdd, or aclnnAdd(self, other, alpha, out)"
        )
    if match[2] is None:
        return ExecSpec(match[1], None, node.start_mark.line + 1)
    arguments = tuple(read_attribute(part, node, fail) for part in split(match[2]))
    return ExecSpec(match[1], arguments, node.start_mark.line + 1)


def read_dtypes(node: yaml.Node, fail: Fail) -> dict[str, frozenset[str]]:
    """A list of types for all tensors, whose key is "", or one for each named argument."""
    if isinstance(node, yaml.MappingNode):
        return {name: _dtypes(value, fail) for name, value in pairs(node, "dtypes", "", fail)}
    return {"": _dtypes(node, fail)}


def _dtypes(node: yaml.Node, fail: Fail) -> frozenset[str]:
    if not isinstance(node, yaml.SequenceNode):
        raise fail(node, "'dtypes' takes a list, [float32, integral]")
    found: set[str] = set()
    for item in node.value:
        if item.value not in DTYPES and item.value not in GROUPS:
            known = ", ".join((*GROUPS, *DTYPES))
            raise fail(item, f"unknown data type '{item.value}': there are {known}")
        found |= set(GROUPS.get(item.value, (item.value,)))
    return frozenset(found)


def pairs(node: yaml.Node, key: str, says: str, fail: Fail) -> Iterator[tuple[str, yaml.Node]]:
    """The keys and values of a mapping; ``says`` is what ``key`` takes."""
    if not isinstance(node, yaml.MappingNode):
        raise fail(node, f"'{key}' takes {says}")
    for name, value in node.value:
        yield str(name.value), value


def flag(nodes: dict[str, yaml.Node], key: str, fail: Fail) -> bool:
    """Whether ``key`` is there and true."""
    if key not in nodes:
        return False
    if nodes[key].value not in ("true", "false"):
        raise fail(nodes[key], f"'{key}' takes true or false")
    return nodes[key].value == "true"


def _texts(node: yaml.Node, key: str, fail: Fail) -> tuple[str, ...]:
    if not isinstance(node, yaml.SequenceNode):
        raise fail(node, f"'{key}' takes a list of arguments, [self, other]")
    return tuple(str(item.value) for item in node.value)


def keys_of(
    node: yaml.Node,
    section: str,
    example: str,
    known: Iterable[str],
    needed: Iterable[str],
    fail: Fail,
) -> dict[str, yaml.Node]:
    """The keys of an entry of ``section``: those of ``known``, none twice, all of ``needed``."""
    if not isinstance(node, yaml.MappingNode):
        raise fail(node, f"an entry of '{section}' is {example}")
    nodes: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if key.value not in known:
            raise fail(key, f"unknown key '{key.value}' of an entry: there are {', '.join(known)}")
        if key.value in nodes:
            raise fail(key, f"key '{key.value}' is defined twice in this entry")
        nodes[key.value] = value
    for key in needed:
        if key not in nodes:
            raise fail(node, f"the key '{key}' of an entry is missing")
    return nodes


def _entry(node: yaml.Node, fail: Fail) -> Entry:
    example = "'- func: add.out' with 'exec: aclnnAdd' below it"
    nodes = keys_of(node, "official", example, KEYS, ("func", "exec"), fail)
    rule = nodes.get("rule")
    if rule is not None and "structured_inherit" in nodes:
        raise fail(rule, "'rule' and 'structured_inherit' both say what the outputs are")
    if rule is not None and not isinstance(rule, yaml.ScalarNode):
        raise fail(rule, "'rule' takes the name of a rule: unary")
    dtypes = read_dtypes(nodes["dtypes"], fail) if "dtypes" in nodes else {}
    numbers = nodes.get("exec_scalar")
    return Entry(
        func=str(nodes["func"].value),
        line=node.start_mark.line + 1,
        call=read_call(nodes["exec"], "exec", fail),
        number_calls=()
        if numbers is None
        else tuple(
            (name, read_call(value, "exec_scalar", fail))
            for name, value in pairs(
                numbers, "exec_scalar", "{other: aclnnAdds(self, other, alpha, out)}", fail
            )
        ),
        structured_inherit=str(nodes["structured_inherit"].value)
        if "structured_inherit" in nodes
        else None,
        rule=None if rule is None else str(rule.value),
        dtypes=tuple(sorted(dtypes.items(), key=lambda pair: pair[0])),
        same_dtype=_texts(nodes["same_dtype"], "same_dtype", fail) if "same_dtype" in nodes else (),
        when=_condition(nodes["when"], fail) if "when" in nodes else None,
        keeps_format=flag(nodes, "keeps_format", fail),
    )


def _name_of(item: yaml.Node) -> str:
    """The operator of an entry, as far as it can be read: the beginning of ``func``."""
    if isinstance(item, yaml.MappingNode):
        for key, value in item.value:
            if key.value == "func" and isinstance(value, yaml.ScalarNode):
                return str(value.value).split("(")[0].strip()
    return ""


def entries_of(
    sections: Iterable[Section],
    name: str,
    example: str,
    read: Callable[[yaml.Node, Fail], T],
    error: type[Exception],
) -> tuple[T, ...]:
    """The entries of the sections ``name`` of all files, by ``read``.

    Raises:
        error: ``file:line: what is wrong``, with the name of the entry.
    """
    found: dict[str, T] = {}
    for section in sections:
        for entry in _entries_of_file(section, name, example, read, error):
            if entry.func in found:
                other = found[entry.func]
                where = "" if other.file == entry.file else f" of {Path(other.file).name}"
                raise error(
                    f"{entry.file}:{entry.line}: '{entry.func}' has an entry already, in line "
                    f"{other.line}{where}"
                )
            found[entry.func] = entry
    return tuple(found.values())


def _entries_of_file(
    section: Section,
    name: str,
    example: str,
    read: Callable[[yaml.Node, Fail], T],
    error: type[Exception],
) -> Iterator[T]:
    operator = ""

    def fail(at: yaml.Node, text: str) -> Exception:
        named = f"'{operator}': " if operator and f"'{operator}'" not in text else ""
        return error(f"{section.path}:{at.start_mark.line + 1}: {named}{text}")

    if not isinstance(section.node, yaml.SequenceNode):
        raise fail(section.node, f"'{name}' takes a list of entries, {example}")
    for item in section.node.value:
        operator = _name_of(item)
        yield replace(read(item, fail), file=str(section.path))


def read_entries(sections: Iterable[Section], error: type[Exception]) -> tuple[Entry, ...]:
    """The entries of sections ``official``; raises ``error`` with ``file:line: what is wrong``."""
    return entries_of(sections, "official", "'- func: add.out'", _entry, error)
