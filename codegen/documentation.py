"""Reads what an entry of ``custom`` says about its operator beside ``doc``; docstring, type stub and page come from it."""

import yaml

from codegen.entries import Fail, pairs
from codegen.model import Described, Documentation

DOCUMENTATION = {
    "args": "{argument: meaning}, of all arguments, or {argument: {meaning, shape, dtypes}}",
    "returns": "a list with the meaning of each result, or {meaning, shape, dtypes}",
    "raises": "{exception: when it is raised}",
    "formula": "what it computes, as a formula",
    "source": "where that is defined: a paper, or a function of PyTorch",
}
_EXCEPTIONS = ("RuntimeError", "ValueError", "TypeError", "IndexError", "NotImplementedError")
_PARTS = ("meaning", "shape", "dtypes")


def _text(node: yaml.Node, key: str, fail: Fail) -> str:
    if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
        raise fail(node, f"'{key}' takes text")
    return " ".join(str(node.value).split())


def _described(node: yaml.Node, key: str, fail: Fail) -> Described:
    if not isinstance(node, yaml.MappingNode):
        return Described(_text(node, key, fail))
    found = {}
    for name, value in pairs(node, key, "", fail):
        if name not in _PARTS:
            raise fail(value, f"unknown key '{name}' under '{key}': there are {', '.join(_PARTS)}")
        found[name] = _text(value, name, fail)
    if "meaning" not in found:
        raise fail(node, f"the key 'meaning' under '{key}' is missing")
    return Described(**found)


def _list(node: yaml.Node, key: str, fail: Fail) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode):
        raise fail(node, f"'{key}' takes {DOCUMENTATION[key]}")
    return list(node.value)


def _raises(node: yaml.Node | None, fail: Fail) -> tuple[tuple[str, str], ...]:
    found = {}
    for name, value in [] if node is None else pairs(node, "raises", DOCUMENTATION["raises"], fail):
        if name not in _EXCEPTIONS:
            known = ", ".join(_EXCEPTIONS)
            raise fail(value, f"unknown exception '{name}' under 'raises': there are {known}")
        found[name] = _text(value, "raises", fail)
    return tuple(found.items())


def read_documentation(nodes: dict[str, yaml.Node], fail: Fail) -> Documentation | None:
    """The keys of ``DOCUMENTATION`` among ``nodes``; None where there is none of them."""
    if not nodes.keys() & DOCUMENTATION.keys():
        return None
    arguments = []
    if "args" in nodes:
        for name, value in pairs(nodes["args"], "args", DOCUMENTATION["args"], fail):
            if name in dict(arguments):
                raise fail(value, f"'{name}' is defined twice under 'args'")
            arguments.append((name, _described(value, name, fail)))
    returns = _list(nodes["returns"], "returns", fail) if "returns" in nodes else []
    return Documentation(
        arguments=tuple(arguments),
        returns=tuple(_described(node, "returns", fail) for node in returns),
        raises=_raises(nodes.get("raises"), fail),
        formula=_text(nodes["formula"], "formula", fail) if "formula" in nodes else "",
        source=_text(nodes["source"], "source", fail) if "source" in nodes else "",
    )
