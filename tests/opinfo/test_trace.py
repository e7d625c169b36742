"""Every OpInfo through ``torch.jit.trace``: the trace also computes other numbers of the same shapes."""

import warnings

import pytest
import torch
from seeding import seed_all
from torch.utils._pytree import tree_flatten, tree_map

from opinfo import cases

# Tracing costs more than the call, and all samples of an operator take the same path through the dispatcher.
MOST_SAMPLES = 2


def _samples(op, seed: int) -> list:
    """The first samples, with the numbers of ``seed``."""
    seed_all(seed)
    found = []
    for sample in op.sample_inputs("npu", torch.float32, requires_grad=False):
        found.append((sample.input, sample.args, sample.kwargs))
        if len(found) == MOST_SAMPLES:
            break
    return found


def _is_tensor(value) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def _describe(leaf):
    return (leaf.shape, leaf.stride(), leaf.dtype) if _is_tensor(leaf) else repr(leaf)


def _traced_and_called(op, first, second, device: str):
    """``second`` through the trace of ``first``, and called; None if ``first`` cannot be traced."""
    first, second = (cases.to_device(sample, device) for sample in (first, second))
    leaves, tree = tree_flatten(first)
    others = tree_flatten(second)[0]
    places = [i for i, leaf in enumerate(leaves) if _is_tensor(leaf)]
    if not places:
        return None

    def call(*tensors):
        given = list(leaves)
        for i, tensor in zip(places, tensors, strict=True):
            given[i] = tensor
        value, args, kwargs = torch.utils._pytree.tree_unflatten(given, tree)
        return op.op(value, *args, **kwargs)

    example = tuple(leaves[i].clone() for i in places)
    other = [others[i] for i in places]
    try:
        traced = torch.jit.trace(call, example, check_trace=False)
        seed_all(0)
        through = traced(*[t.clone() for t in other])
    except Exception:
        return None
    seed_all(0)
    return through, call(*[t.clone() for t in other])


def _is_same(pair) -> bool:
    flat = [[t for t in tree_flatten(tree)[0] if isinstance(t, torch.Tensor)] for tree in pair]
    if len(flat[0]) != len(flat[1]):
        return False
    try:
        for a, b in zip(*flat, strict=True):
            torch.testing.assert_close(a, b, equal_nan=True, rtol=1e-4, atol=1e-4)
    except (AssertionError, NotImplementedError):
        return False
    return True


@pytest.mark.parametrize(
    "op", cases.float32_ops(), ids=lambda op: f"{op.name}-{op.variant_test_name}"
)
def test_trace(op):
    if op.name in cases.UNINITIALISED:
        pytest.skip("the contents of the result are undefined")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter(
            "ignore"
        )  # about values that became constants: the CPU's trace shows whether it matters
        for first, second in zip(_samples(op, 1), _samples(op, 2), strict=False):
            described = [tree_map(_describe, sample) for sample in (first, second)]
            if described[0] != described[1]:
                continue
            expected = _traced_and_called(op, first, second, "cpu")
            if expected is None or not _is_same(expected):
                continue
            actual = _traced_and_called(op, first, second, "npu")
            assert actual is not None, "the CPU traces this, npu does not"
            assert _is_same(actual), "the trace has kept numbers of its first input"
