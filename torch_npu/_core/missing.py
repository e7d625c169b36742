"""Errors for missing names of a module."""

from types import ModuleType


def missing_attribute(module: ModuleType, name: str) -> AttributeError:
    """The error for ``module.name``, with the closest existing name."""
    text = f"module {module.__name__!r} has no attribute {name!r}"
    if name.startswith("__"):  # Python looks up many optional ones
        return AttributeError(text)
    from difflib import get_close_matches

    known = [known for known in dir(module) if not known.startswith("_")]
    closest = get_close_matches(name, known, n=1)
    return AttributeError(f"{text}; did you mean {closest[0]!r}?" if closest else text)
