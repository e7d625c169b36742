"""Every ModuleInfo through ``torch.jit.trace``: the trace also computes other numbers of the same shapes."""

import warnings

import pytest
import torch
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_flatten, tree_unflatten

from modules import cases

# All samples of a module take the same path through the dispatcher.
MOST_SAMPLES = 2


def _traced_and_called(info, case, device: str):
    """Outputs for other numbers, traced and called; None if the module cannot be traced."""
    module = cases._module(info, case, torch.float32, device, training=False)
    arguments = (case.forward_input.args, case.forward_input.kwargs)
    leaves, tree = tree_flatten(cases._to(device, arguments))
    # Integers are indices and lengths: other numbers would be invalid.
    places = [
        i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()
    ]  # fmt: skip

    def call(*tensors):
        given = list(leaves)
        for i, tensor in zip(places, tensors, strict=True):
            given[i] = tensor
        args, kwargs = tree_unflatten(given, tree)
        return tuple(cases._tensors(module(*args, **kwargs)))

    example = tuple(leaves[i].detach() for i in places)
    other = [(0.25 + 0.5 * t).flip(-1) if t.dim() else 0.25 + 0.5 * t for t in example]
    try:
        traced = torch.jit.trace(call, example, check_trace=False)
        return traced(*other), call(*other)
    except Exception:
        return None


def _is_same(pair) -> bool:
    try:
        torch.testing.assert_close(*pair, equal_nan=True, rtol=1e-4, atol=1e-4)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("info", module_db, ids=lambda info: info.name)
def test_trace(info):
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter(
            "ignore"
        )  # about values that became constants: the CPU's trace shows whether it matters
        for case in cases._samples(info, torch.float32, training=False)[:MOST_SAMPLES]:
            expected = _traced_and_called(info, case, "cpu")
            if expected is None or not _is_same(expected):
                continue
            actual = _traced_and_called(info, case, "npu")
            assert actual is not None, "the CPU traces this, npu does not"
            assert _is_same(actual), "the trace has kept numbers of its first input"
