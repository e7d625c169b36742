"""Finds a dotted name in the running interpreter, and says what is wrong with it."""

import importlib
import inspect

import torch

from dev.api.signatures import difference, parse, without_first
from dev.api.table import Name


def _inside(name: str) -> str:
    """The name by its modules: ``torch_npu.npu.x`` for ``torch.npu.x``."""
    return "torch_npu.npu" + name[len("torch.npu") :] if name.startswith("torch.npu") else name


def holder(name: str) -> tuple[object, str]:
    """The module, class or object that has the last word of ``name``, and that word.

    Raises AttributeError if the name cannot be reached: neither by attributes from ``torch_npu``, nor from a module.
    """
    path, _, last = _inside(name).rpartition(".")
    words = path.split(".")
    for split in range(1, len(words) + 1):
        try:
            found: object = importlib.import_module(".".join(words[:split]))
            for word in words[split:]:
                found = getattr(found, word)
            getattr(found, last)
        except (ImportError, AttributeError):
            continue
        return found, last
    raise AttributeError(f"there is no {name}")


def reach(name: str) -> object:
    """The object of that name."""
    found, last = holder(name)
    return getattr(found, last)


def static(name: str) -> object:
    """The object as its holder stores it: a property instead of its value."""
    found, last = holder(name)
    if isinstance(found, type):
        return inspect.getattr_static(found, last)
    return getattr(found, last)


def function_of(found: object) -> object:
    """The Python function behind a method, class method or wrapper, or ``found`` itself."""
    return getattr(found, "__func__", found)


def _raises_by_design(found: object) -> bool:
    if getattr(found, "__objclass__", None) is torch.Event or found == torch.Event.from_ipc_handle:
        return getattr(found, "__name__", "") in ("from_ipc_handle", "ipc_handle")
    code = getattr(function_of(found), "__code__", None)
    return code is not None and "NotImplementedError" in code.co_names


def _signature(found: object) -> inspect.Signature | None:
    try:
        return inspect.signature(found)
    except (TypeError, ValueError):  # written in C++
        return None


def _wrong_signature(official: Name, found: object) -> str:
    wanted = parse(official.signature)
    parts = official.name.split(".")
    if official.kind in ("class", "method", "classmethod"):
        wanted = without_first(wanted)
    own = _signature(found)
    if own is None:
        return ""
    kept = inspect.isfunction(found) and official.kind == "method"
    if kept or (parts[-1] == "__new__" and inspect.isfunction(found)):
        own = without_first(own)
    return difference(wanted, own, protocol=parts[-1] in ("__enter__", "__exit__"))


def problem(official: Name) -> str:
    """Why the name does not count, empty if it does."""
    try:
        found = static(official.name) if official.kind == "property" else reach(official.name)
    except AttributeError:
        return "missing"
    except Exception as error:
        return f"raises {type(error).__name__}"
    if _raises_by_design(found):
        return "raises NotImplementedError"
    if official.signature and callable(found):
        return _wrong_signature(official, found)
    if official.signature:
        return "is not callable"
    return ""
