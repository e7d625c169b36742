"""Reads sections ``custom`` of ``native_functions/*.yaml``: operators of the namespace ``npu``.

An entry is an operator's schema, what its outputs are, and the aclnn function that computes them. ``KEYS`` has all keys.
Every problem is a ``ParseError`` with file and line.
"""

import re
from collections.abc import Iterable

import yaml

from codegen.documentation import DOCUMENTATION, read_documentation
from codegen.entries import (
    Fail,
    entries_of,
    flag,
    keys_of,
    pairs,
    read_attribute,
    read_call,
    read_dtypes,
    split,
)
from codegen.model import Attribute, CustomEntry, ExecSpec, Section

KEYS = {
    "func": "the schema; an argument 'self' is registered as 'input'",
    "exec": "the aclnn function, with its arguments where they are not the schema's and then the outputs",
    "op_api": "true: written by hand in torch_npu/csrc/aten/custom, where custom_kernels.h declares it",
    "composed": "true: a composition of ATen's operators, written there; it serves meta tensors, too",
    "out": "what the outputs are, by functions of aten/custom/shapes.h: like(self), rows(self, gamma)",
    "autograd": "{arguments: npu_x_backward(grad, self)}: the npu:: operator that gives their gradients",
    "dtypes": "the types that are taken, for all tensors or {argument: types}",
    "exposed": "true: a public name of torch_npu",
    "doc": "one sentence: what it computes; the docstring in Python",
    **DOCUMENTATION,
}

_NAME = re.compile(r"^\s*(\w+(?:\.\w+)?)\s*\(")
_SCHEMA = "a schema: npu_swiglu(Tensor self, int dim=-1) -> Tensor"


def _function(text: str, node: yaml.Node, key: str, fail: Fail) -> Attribute:
    function = read_attribute(text, node, fail)
    if function.arguments is None:
        raise fail(node, f"'{key}' takes a function of names: '{function.name}' has no arguments")
    return function


def _outputs(node: yaml.Node | None, fail: Fail) -> tuple[Attribute, ...]:
    if node is None:
        return ()
    if not isinstance(node, yaml.ScalarNode):
        raise fail(node, "'out' takes functions of names: like(self), rows(self, gamma)")
    return tuple(_function(text, node, "out", fail) for text in split(str(node.value)))


def _kernel(node: yaml.Node, nodes: dict[str, yaml.Node], fail: Fail) -> ExecSpec | None:
    given = ("exec" in nodes, flag(nodes, "op_api", fail), flag(nodes, "composed", fail))
    if sum(given) != 1:
        raise fail(node, "an entry has one of 'exec', 'op_api: true' and 'composed: true'")
    return read_call(nodes["exec"], "exec", fail) if "exec" in nodes else None


def _gradients(
    node: yaml.Node | None, fail: Fail
) -> tuple[tuple[tuple[str, ...], Attribute, int], ...]:
    if node is None:
        return ()
    listed = pairs(node, "autograd", "{self: npu_x_backward(grad, self)}", fail)
    return tuple(
        (
            tuple(name.strip() for name in names.split(",")),
            _function(str(value.value), value, "autograd", fail),
            value.start_mark.line + 1,
        )
        for names, value in listed
    )


def _entry(node: yaml.Node, fail: Fail) -> CustomEntry:
    nodes = keys_of(node, "custom", f"'- func:' with {_SCHEMA}", KEYS, ("func", "doc"), fail)
    schema = str(nodes["func"].value)
    name = _NAME.match(schema)
    if name is None:
        raise fail(nodes["func"], f"'func' takes {_SCHEMA}")
    dtypes = read_dtypes(nodes["dtypes"], fail) if "dtypes" in nodes else {}
    return CustomEntry(
        func=name[1],
        line=nodes["func"].start_mark.line + 1,
        schema=schema,
        call=_kernel(node, nodes, fail),
        outputs=_outputs(nodes.get("out"), fail),
        gradients=_gradients(nodes.get("autograd"), fail),
        dtypes=tuple(sorted(dtypes.items(), key=lambda pair: pair[0])),
        is_composed=flag(nodes, "composed", fail),
        is_exposed=flag(nodes, "exposed", fail),
        doc=" ".join(str(nodes["doc"].value).split()),
        documentation=read_documentation(nodes, fail),
    )


def read_custom(sections: Iterable[Section], error: type[Exception]) -> tuple[CustomEntry, ...]:
    """The entries of sections ``custom``; raises ``error`` with ``file:line: what is wrong``."""
    return entries_of(sections, "custom", f"'- func:' with {_SCHEMA}", _entry, error)
