"""Whether a draw's results on npu are good: OpInfo's element rule with its formulas, on the CPU alone."""

from types import SimpleNamespace

import torch
from opinfo import judge
from opinfo.cancelling import error_of
from opinfo.rounding import Change, changed
from torch.utils._pytree import tree_map

from fuzz.compare import structure_problem
from fuzz.draw import UNSEEN, Drawn
from fuzz.indices import same_choice
from fuzz.kinds import kind_of_operator
from fuzz.run import REFUSALS, copied, results, run

# The first word of a verdict on a CPU that gives another result for the same numbers without gaps and repetitions.
MISREADS = "misread strides:"


def _is_inexact(x: object) -> bool:
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


def rule_of(operator: str, call: Drawn, expected: list) -> judge.Rule:
    """How results of the call are judged."""
    kind, derivative = kind_of_operator(operator)
    tensors = call.tensors
    # A function of integers that gives floating numbers takes them as such.
    integers = not any(map(_is_inexact, tensors)) and any(map(_is_inexact, expected))

    def in_double(change: Change) -> list:
        def own(x: object) -> object:
            if not isinstance(x, torch.Tensor):
                return x
            return x.double() if integers else copied(x, "cpu")

        args, kwargs = changed(tree_map(own, (call.args, call.kwargs)), change)
        return results(call, args, kwargs)

    floating = [t for t in tensors if _is_inexact(t)]
    sample = SimpleNamespace(
        input=floating[0] if floating else torch.empty(0), args=call.args[1:], kwargs=call.kwargs
    )
    atol = error_of(SimpleNamespace(name=operator), sample)
    return judge.Rule(kind, in_double, tuple(tensors), not derivative, atol)


def _problem(operator: str, call: Drawn, expected: list, actual: list) -> str:
    if text := structure_problem(expected, actual):
        return text
    try:
        judge.check_same(expected, actual, rule_of(operator, call, expected))
    except AssertionError as error:
        return "" if same_choice(operator, call, expected, actual) else str(error)
    return ""


def verdict(operator: str, call: Drawn, actual: list) -> str:
    """What is wrong with ``actual``, or nothing; begins with `MISREADS` where the CPU is wrong."""
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
    return text if _problem(operator, call, dense, actual) else f"{MISREADS} {text}"
