"""Indices of equal numbers, whose order is unspecified unless a stable order is requested."""

import torch
from torch.utils._pytree import tree_flatten

# OpInfos whose indices must point at the values.
TIES = {"argsort", "sort", "topk"}


def finds_values(sample, expected, actual) -> bool:
    """Whether the indices among the results select, along one dimension, the same values as the CPU's, and the values
    agree."""
    flat_e, flat_a = (tree_flatten(tree)[0] for tree in (expected, actual))
    x = sample.input.detach().cpu()
    if sample.kwargs.get("stable") or len(flat_e) != len(flat_a) or x.dim() == 0:
        return False
    theirs, ours = (flat[-1].detach().cpu() for flat in (flat_e, flat_a))
    for dim in range(x.dim()):
        if x.shape[:dim] + x.shape[dim + 1 :] != ours.shape[:dim] + ours.shape[dim + 1 :]:
            continue
        found, wanted = x.gather(dim, ours), x.gather(dim, theirs)
        values_agree = len(flat_a) == 1 or torch.equal(flat_a[0].detach().cpu(), found)
        # topk may return them unsorted.
        if values_agree and torch.equal(found.sort(dim).values, wanted.sort(dim).values):
            return True
    return False
