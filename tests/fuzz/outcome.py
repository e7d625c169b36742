"""Whether a draw's results on npu are correct: OpInfo's element rule with its formulas, on the CPU alone."""

import math
from types import SimpleNamespace

import torch
from opinfo.cancelling import error_of
from torch.utils._pytree import tree_map

from fuzz.draw import UNSEEN, Drawn
from fuzz.indices import same_choice
from fuzz.kinds import kind_of_operator
from fuzz.run import MISREADS, REFUSALS, copied, results, run, without_layout
from torch_npu.accuracy import Kind, judge
from torch_npu.accuracy.rounding import Change, changed
from torch_npu.accuracy.structure import structure_problem


def _is_inexact(x: object) -> bool:
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


def _with_numbers(call: Drawn, dtype: torch.dtype) -> Drawn:
    """The call with its numbers rounded to ``dtype``, as the operator's elements are."""

    def rounded(x: object) -> object:
        if isinstance(x, bool) or not isinstance(x, int | float):
            return x
        near = torch.tensor(float(x), dtype=torch.float64).to(dtype).item()
        return near if isinstance(x, float) or (near != x and math.isfinite(near)) else x

    values = [
        tree_map(rounded, v) if "number" in str(a.type) or str(a.type) == "float" else v
        for a, v in call.arguments()
    ]
    count = len(call.args)
    kwargs = dict(zip(call.kwargs, values[count:], strict=True))
    return Drawn(call.name, tuple(values[:count]), kwargs)


def _types_of_numbers(tensors: list[torch.Tensor]) -> list[torch.dtype]:
    """The types to which an operator may convert its numbers before it uses them."""
    types = {t.dtype.to_real() if t.is_complex() else t.dtype for t in tensors if _is_inexact(t)}
    # Integers and numbers give the default type; an operator that computes in double precision uses its numbers
    # unchanged.
    types = (types or {torch.float32}) | {torch.float64}
    if types & {torch.float16, torch.bfloat16}:
        types |= {torch.float32}
    return sorted(types, key=lambda dtype: torch.finfo(dtype).eps)


def rule_of(operator: str, call: Drawn, expected: list, *, dense: bool = False) -> judge.Rule:
    """How results of the call are judged; ``dense``: for dense copies of its arguments."""
    kind, derivative = kind_of_operator(operator)
    tensors = call.tensors
    if kind is Kind.ELEMENTWISE and any(t.is_complex() for t in tensors):
        kind = Kind.COMPOSED  # for functions of real numbers
    # A function of integers with floating-point results converts them to floating point.
    gives_floats = any(map(_is_inexact, expected[: len(expected) - len(tensors)]))
    integers = gives_floats and call.is_pointwise
    bools = gives_floats and not any(map(_is_inexact, tensors))

    def own(x: object) -> object:
        if not isinstance(x, torch.Tensor):
            return x
        if bools or (integers and x.dtype != torch.bool and not _is_inexact(x)):
            return x.double()
        return without_layout(x) if dense else copied(x, "cpu")

    def in_double(change: Change) -> list:
        args, kwargs = changed(tree_map(own, (call.args, call.kwargs)), change)
        return results(call, args, kwargs)

    floating = [t for t in tensors if _is_inexact(t)]

    def error(name: str, x: torch.Tensor) -> float | torch.Tensor:
        sample = SimpleNamespace(input=x, args=call.args[1:], kwargs=call.kwargs)
        return error_of(SimpleNamespace(name=name), sample)

    if operator.startswith("_foreach_") and isinstance(call.args[0], list):
        atol = [error(operator.removeprefix("_foreach_"), x) for x in call.args[0]]
    else:
        atol = error(operator, floating[0] if floating else torch.empty(0))
        if isinstance(atol, torch.Tensor):  # of the result; the arguments follow it
            atol = [atol]
    return judge.Rule(kind, in_double, tuple(tensors), not derivative, atol)


def _problem(
    operator: str, call: Drawn, expected: list, actual: list, *, dense: bool = False
) -> str:
    if text := structure_problem(expected, actual):
        return text
    text = ""
    results = [t for t in expected if isinstance(t, torch.Tensor)]
    for dtype in _types_of_numbers([*call.tensors, *results]):
        rule = rule_of(operator, _with_numbers(call, dtype), expected, dense=dense)
        try:
            judge.check_same(expected, actual, rule)
        except AssertionError as error:
            text = text or str(error)
        else:
            return ""
    return "" if same_choice(operator, call, expected, actual) else text


def fault_in(operator: str, call: Drawn, actual: list) -> str:
    """What is wrong with ``actual``; empty if it is correct; begins with `MISREADS` if the CPU is wrong."""
    expected = run(call)
    for name, index in UNSEEN:
        if name == operator:
            actual[index] = expected[index]
    text = _problem(operator, call, expected, actual)
    if not text:
        return ""
    try:
        dense = run(call, dense=True)
    except REFUSALS:
        return text
    if _problem(operator, call, dense, actual, dense=True):
        return text
    return f"{MISREADS} {text}"
