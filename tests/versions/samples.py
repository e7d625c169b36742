"""Arguments for an operator that writes: those of a recorded call of its own, or of an operator that computes the same."""

from collections.abc import Iterator

import torch

from versions.recorded import Given, copied
from versions.schemas import Overload, is_out


def _siblings(function: Overload) -> list[Overload]:
    """The overloads of the operators that compute the same, without ``function``."""
    namespace, base = function._schema.name.split("::")
    plain = base.rstrip("_")
    names = (base, plain, plain.removesuffix("_copy"), f"{plain}_functional", f"{plain}_")
    packets = [getattr(getattr(torch.ops, namespace), name, None) for name in dict.fromkeys(names)]
    found = [getattr(p, which) for p in packets if p is not None for which in p.overloads()]
    return [f for f in found if f is not function]


def _inputs(function: Overload) -> list[torch._C.Argument]:
    return [a for a in function._schema.arguments if not is_out(a)]


def _number(value: object) -> object:
    """A number of the same kind as a tensor, list or number."""
    while isinstance(value, list | tuple):
        value = value[0] if value else 2
    if isinstance(value, torch.Tensor):
        return value.flatten()[0].item() if value.numel() else 2
    return value


def _adapted(argument: torch._C.Argument, value: object, first: object) -> object:
    """``value``, of another overload, as a value of the argument's type; ``first`` is the call's first argument."""
    kind = str(argument.type)
    is_list = isinstance(value, list | tuple)
    if kind in ("number", "Optional[number]") and isinstance(value, torch.Tensor | list | tuple):
        return _number(value)
    if kind == "List[number]" and isinstance(first, list | tuple):
        numbers = [_number(v) for v in value] if is_list else [_number(value)]
        return (numbers * len(first))[: len(first)]
    if kind == "Tensor" and (is_list or isinstance(value, bool | int | float)):
        return torch.tensor(_number(value))
    if kind == "List[Tensor]" and not is_list and isinstance(first, list | tuple):
        return [torch.full_like(t, _number(value)) for t in first]
    return value


def _fitted(function: Overload, given: Given) -> Given | None:
    """``given`` as arguments of ``function``, without outputs; None if an argument is missing or unknown."""
    arguments = {a.name: a for a in _inputs(function)}
    if any(name not in arguments for name in given):
        return None
    if any(name not in given and not a.has_default_value() for name, a in arguments.items()):
        return None
    first = next(iter(given.values()), None)
    return {name: _adapted(arguments[name], value, first) for name, value in given.items()}


def _source(function: Overload) -> Overload | None:
    """The operator with the same inputs that returns new tensors."""
    wanted = [(a.name, str(a.type)) for a in _inputs(function)]
    for sibling in _siblings(function):
        arguments = sibling._schema.arguments
        if [(a.name, str(a.type)) for a in arguments] == wanted and sibling._schema.returns:
            return sibling
    return None


def with_outputs(function: Overload, given: Given) -> Given | None:
    """``given`` with tensors for the outputs, as the operator that returns them makes them; None if it fails."""
    outs = [a for a in function._schema.arguments if is_out(a)]
    if all(a.name in given for a in outs):
        return given
    source = _source(function)
    if source is None:
        return None
    try:
        with torch.no_grad():
            result = source(**copied(given))
    except Exception:
        return None
    results = list(result) if isinstance(result, tuple) else [result]
    if len(results) < len(outs):
        return None
    # What it also returns are the arguments that it does not write.
    return given | {a.name: value for a, value in zip(outs, results[: len(outs)], strict=True)}


def recorded_samples(function: Overload, calls: dict[str, list[Given]]) -> Iterator[Given]:
    """The calls that were recorded of ``function`` and its siblings, with its outputs."""
    for other in (function, *_siblings(function)):
        for given in calls.get(f"{other._schema.name}.{other._overloadname}", []):
            outs = {a.name for a in other._schema.arguments if is_out(a)}
            inputs = {name: value for name, value in given.items() if name not in outs}
            fitted = _fitted(function, inputs)
            complete = None if fitted is None else with_outputs(function, fitted)
            if complete is not None:
                yield complete
