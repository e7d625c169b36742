"""Whether a signature accepts every call that another one accepts."""

import ast
import inspect
from inspect import Parameter

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_NONE = inspect.Parameter.empty


def _literal(node: ast.expr | None) -> object:
    """The value of a default, or an object that equals none if it is no literal."""
    try:
        return ast.literal_eval(node) if node is not None else _NONE
    except ValueError:
        return node


def parse(text: str) -> inspect.Signature:
    """The signature of ``(a, b=1, *c, d=2, **e)``; defaults that are no literals stay syntax trees."""
    arguments = ast.parse(f"def f{text}: 0").body[0].args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parameters = [
        Parameter(
            node.arg,
            _POSITIONAL[index >= len(arguments.posonlyargs)],
            default=_literal(default),
        )
        for index, (node, default) in enumerate(zip(positional, defaults, strict=True))
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, Parameter.VAR_POSITIONAL))
    parameters += [
        Parameter(node.arg, Parameter.KEYWORD_ONLY, default=_literal(default))
        for node, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def without_first(signature: inspect.Signature) -> inspect.Signature:
    """The signature without ``self`` or ``cls``."""
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _same_default(official: object, own: object) -> bool:
    if isinstance(official, ast.expr):
        return own is not _NONE
    if official is _NONE:
        return True
    return own == official and isinstance(own, type(official) | int | float | None)


def difference(official: inspect.Signature, own: inspect.Signature, *, protocol: bool) -> str:
    """What ``own`` does not accept of what ``official`` accepts, empty if nothing.

    ``protocol``: a method that only the interpreter calls, by position; names do not matter.
    """
    wanted = list(official.parameters.values())
    mine = list(own.parameters.values())
    takes_any = any(p.kind is Parameter.VAR_POSITIONAL for p in mine)
    takes_names = any(p.kind is Parameter.VAR_KEYWORD for p in mine)
    positional = [p for p in mine if p.kind in _POSITIONAL]
    named = {p.name: p for p in mine if p.kind in _NAMED}
    used = set()
    for index, parameter in enumerate(p for p in wanted if p.kind in _POSITIONAL):
        if index >= len(positional):
            if not takes_any or not (takes_names or protocol):
                return f"no parameter {parameter.name!r}"
            continue
        found = positional[index]
        used.add(found.name)
        if found.name != parameter.name and not protocol:
            return f"parameter {index} is {found.name!r}, not {parameter.name!r}"
        if not _same_default(parameter.default, found.default):
            return f"another default of {parameter.name!r}"
    for parameter in (p for p in wanted if p.kind is Parameter.KEYWORD_ONLY):
        used.add(parameter.name)
        if parameter.name not in named:
            if not takes_names:
                return f"no keyword {parameter.name!r}"
        elif not _same_default(parameter.default, named[parameter.name].default):
            return f"another default of {parameter.name!r}"
    for kind, accepted in (
        (Parameter.VAR_POSITIONAL, takes_any),
        (Parameter.VAR_KEYWORD, takes_names),
    ):
        for parameter in (p for p in wanted if p.kind is kind):
            if not accepted and not protocol:
                return f"no {'**' if kind is Parameter.VAR_KEYWORD else '*'}{parameter.name}"
    needed = [p for p in mine if p.kind in (*_POSITIONAL, *_NAMED) and p.default is _NONE]
    extra = [p.name for p in needed if p.name not in used]
    return f"needs {extra[0]!r}" if extra else ""
