"""Replaces the body of a named function, method, property or class by ``return None``, to see whether tests notice."""

import inspect
import sys
from collections.abc import Callable
from types import CodeType, FunctionType

from dev.api.reach import function_of, holder, static

# A test's own interpreter breaks the name in this variable, too: tests/fresh.py reads it.
VARIABLE = "TORCH_NPU_API_BREAK"


def _nothing(*_: object, **__: object) -> None:
    return None


def _code_without_body(free: int) -> CodeType:
    """The code of a function that returns None, with ``free`` closure variables."""
    names = [f"v{index}" for index in range(free)]
    lines = ["def outer():", *(f"  {name} = None" for name in names)]
    lines += ["  def inner(*args, **kwargs):", *(f"    {name}" for name in names)]
    lines += ["    return None", "  return inner"]
    space: dict[str, Callable[[], FunctionType]] = {}
    exec("\n".join(lines), space)
    return space["outer"]().__code__


def _empty(function: FunctionType) -> None:
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = _code_without_body(len(function.__code__.co_freevars))


def _replace(found: object, last: str, other: object) -> None:
    """Puts ``other`` in the place of an object, in each module of the package and of its tests that has it."""
    old = getattr(found, last, None)
    if isinstance(found, type):
        type.__setattr__(found, last, other)
        return
    setattr(found, last, other)
    for name, module in list(sys.modules.items()):
        if old is not None and name.split(".")[0] in ("torch_npu", "api"):
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, other)


def _break_class(found: object, last: str, result: type) -> None:
    """Instances are None; and so is what a class without instances, as of ``autograd.Function``, gives."""
    type.__setattr__(result, "__new__", staticmethod(_nothing))
    _replace(found, last, _nothing)


def break_name(name: str) -> None:
    """Breaks ``name`` and its aliases in this process, for good."""
    found, last = holder(name)
    value = static(name)
    function = function_of(value)
    if isinstance(function, FunctionType):
        _empty(function)
    elif isinstance(value, type) and last != "__new__":
        _break_class(found, last, value)
    elif isinstance(value, property) or inspect.isdatadescriptor(value):
        _replace(found, last, property(_nothing))
    elif callable(value):
        _replace(found, last, staticmethod(_nothing) if isinstance(found, type) else _nothing)
    elif isinstance(found, type) or inspect.ismodule(found):
        _replace(found, last, None)
    else:  # an attribute of an object that holds settings
        setattr(type(found), last, property(_nothing, _nothing))


def identity(name: str) -> object:
    """Equal for names that ``break_name`` breaks together."""
    found, last = holder(name)
    function = function_of(static(name))
    if isinstance(function, FunctionType | type | property):
        return id(function)
    return id(found), last
