"""Runs drawn calls on npu and on the CPU, and compares."""

import torch
from fuzz.draw import Drawn
from fuzz.outcome import fault_in
from fuzz.run import copied, results
from torch.utils._pytree import tree_map

from torch_npu.accuracy.structure import same_values, structure_problem

# Operators whose results have unspecified elements.
_UNSPECIFIED = ("empty", "new_empty", "_empty", "resize", "set_", "set", "_resize_output")


def _dense(x: object) -> object:
    """A result on the CPU, strided."""
    if not isinstance(x, torch.Tensor):
        return x
    x = x.detach().cpu()
    if x.is_nested:
        return x.values() if x.layout == torch.jagged else torch.nested.to_padded_tensor(x, 0)
    return x.to_dense() if x.layout != torch.strided or x.is_mkldnn else x


def run_on_npu(call: Drawn) -> list:
    """The results, followed by the tensors that were arguments; on the CPU."""

    def move(x: object) -> object:
        return torch.device("npu", 0) if isinstance(x, torch.device) else copied(x, "npu")

    args, kwargs = tree_map(move, (call.args, call.kwargs))
    return [_dense(x) for x in results(call, args, kwargs)]


def run_on_cpu(call: Drawn) -> list:
    """The same on the CPU."""
    args, kwargs = tree_map(lambda x: copied(x, "cpu"), (call.args, call.kwargs))
    return [_dense(x) for x in results(call, args, kwargs)]


def has_specified_elements(call: Drawn) -> bool:
    """Whether the results do not depend on chance or on the memory's contents before the call."""
    base = call.name.split(".")[1]
    is_random = torch.Tag.nondeterministic_seeded in call.function.tags or "Generator" in str(
        call.function._schema
    )
    return not is_random and not base.startswith(_UNSPECIFIED)


def difference(call: Drawn, expected: list, actual: list) -> str:
    """What is wrong with ``actual``; empty if nothing is."""
    expected, actual = [_dense(e) for e in expected], [_dense(a) for a in actual]
    actual = [
        e if isinstance(e, torch.device) else a for e, a in zip(expected, actual, strict=True)
    ]
    if text := structure_problem(expected, actual):
        return text
    if not has_specified_elements(call) or same_values(expected, actual):
        return ""
    return fault_in(call.name.split(".")[1], call, actual)
