"""Whether a result of npu is as good as the CPU's: within tolerances, or as near to the reference in float64."""

import torch
from torch.utils._pytree import tree_flatten, tree_map

from opinfo.tolerances import sum_error


def assert_same(expected, actual, atol: float = 0.0, exact: bool = False) -> None:
    """Equal within PyTorch's default tolerances; ``exact``: the same bits, as the same kernel on the same bytes gives."""
    actual = tree_map(lambda x: x.cpu() if isinstance(x, torch.Tensor) else x, actual)
    for e, a in zip(tree_flatten(expected)[0], tree_flatten(actual)[0], strict=True):
        if isinstance(e, torch.Tensor):
            rtol, default = torch.testing._comparison.default_tolerances(a, e)
            atol = max(atol, default, sum_error(e))
            if exact:
                rtol = atol = 0.0
            torch.testing.assert_close(a, e.cpu(), equal_nan=True, rtol=rtol, atol=atol)
        elif isinstance(e, int | float | complex | bool):
            torch.testing.assert_close(a, e, equal_nan=True)


# What there is a wider type of, to compute a reference in.
WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def in_float64(tree):
    """The tree with its tensors, and the dtypes that it names, in double precision."""

    def widen(t):
        if isinstance(t, torch.Tensor) and t.dtype in WIDER:
            return t.detach().to(WIDER[t.dtype]).requires_grad_(t.requires_grad)
        return WIDER.get(t, t) if isinstance(t, torch.dtype) else t

    return tree_map(widen, tree)


def _is_double_result(reference: torch.Tensor, actual: torch.Tensor) -> bool:
    """Whether a result in double precision is the reference's: for those that the CPU leaves unwritten."""
    if reference.dtype not in WIDER.values() or reference.layout != torch.strided:
        return False
    return torch.allclose(actual.cpu(), reference, rtol=1e-7, atol=1e-7, equal_nan=True)


def as_accurate(expected, actual, reference) -> bool:
    """Whether the largest error against the ``reference`` in float64 is at most one rounding and twice the CPU's.

    The CPU's error counts up to half of the type's digits, of the largest number or of one: what it does not write, or
    gets wrong, is no measure.

    Two good results may be further apart than a tolerance: where PyTorch rounds between the parts of an operator, or in
    half precision within its CPU kernels, where sums cancel, and by a step where a function jumps.
    """
    flat = [tree_flatten(tree)[0] for tree in (expected, actual, reference)]
    if len({len(part) for part in flat}) != 1:
        return False
    for e, a, r in zip(*flat, strict=True):
        if not isinstance(e, torch.Tensor):
            continue
        if e.dtype not in WIDER or e.layout != torch.strided:
            if not torch.equal(e.cpu(), a.cpu()) and not _is_double_result(r, a):
                return False
            continue
        wide = WIDER[e.dtype]
        e64, a64, r64 = (t.detach().cpu().to(wide) for t in (e, a, r))
        differ = ~((e64 == a64) | (e64.isnan() & a64.isnan()))
        finite = e64.isfinite() & r64.isfinite()
        if bool((differ & ~a64.isfinite()).any()):
            return False
        cpu, scale = (
            (t[finite].max().item() if finite.any() else 0.0)
            for t in ((e64 - r64).abs(), r64.abs())
        )
        eps = torch.finfo(e.dtype).eps
        bound = 2 * min(cpu, eps**0.5 * max(scale, 1)) + eps * scale
        if not bool(((a64 - r64).abs()[differ] <= bound).all()):
            return False
    return True


# Which of several equal numbers comes first is open where a stable order is not asked for: the indices have to point at the values.
TIES = {"argsort", "sort", "topk"}


def finds_values(sample, expected, actual) -> bool:
    """Whether the indices among the results find, along one dimension, what the CPU's find, and the values are that."""
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
        # topk may leave them unsorted.
        if values_agree and torch.equal(found.sort(dim).values, wanted.sort(dim).values):
            return True
    return False


def check_same(op, sample, expected, actual, atol: float, exact: bool, reference) -> None:
    """``assert_same``; where that fails ``reference()``, the result in float64, decides, and for ties the indices."""
    try:
        assert_same(expected, actual, atol, exact)
    except AssertionError as failure:
        if op.name in TIES and finds_values(sample, expected, actual):
            return
        if exact:
            raise
        try:
            wide = reference()
        except (RuntimeError, TypeError, ValueError):
            raise failure from None  # there is none in double precision
        if not as_accurate(expected, actual, wide):
            raise
