"""Runs one draw on a device."""

import torch
from opinfo.copies import copy_to
from torch.utils._pytree import tree_leaves, tree_map

from fuzz.draw import Drawn

# Exceptions that ATen's operators raise for arguments that they refuse.
REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)


# The first words of a verdict on a CPU that gives another result for the same numbers stored densely.
MISREADS = "misread strides:"


def copied(x: object, device: str) -> object:
    """A tensor's copy on ``device`` with the same layout; anything else unchanged."""
    return copy_to(x, device) if isinstance(x, torch.Tensor) else x


def without_layout(x: object) -> object:
    """A tensor's dense copy; anything else unchanged."""
    if not isinstance(x, torch.Tensor):
        return x
    return x.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


def results(call: Drawn, args: tuple, kwargs: dict) -> list:
    """The results, followed by the tensors that were arguments. Results that a mask leaves out are None."""
    result = call.function(*args, **kwargs)
    mask = call.argument("output_mask")
    if mask is not None:
        result = [r if wanted else None for r, wanted in zip(result, mask, strict=True)]
    given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    return [*tree_leaves(result), *given]


def run(call: Drawn, device: str = "cpu", *, dense: bool = False) -> list:
    """What `results` returns for copies of the arguments; ``dense``: for dense copies."""
    move = without_layout if dense else lambda x: copied(x, device)
    args, kwargs = tree_map(move, (call.args, call.kwargs))
    return results(call, args, kwargs)
