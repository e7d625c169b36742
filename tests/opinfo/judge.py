"""Whether a result of npu is correct: near the CPU's, or near the exact one in double precision, element by element.

Each element has its own tolerance, from `tolerances.py`; it does not depend on other elements.
"""

from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_flatten

from opinfo import tolerances
from opinfo.kinds import Kind
from opinfo.rounding import AS_IT_IS
from opinfo.tolerances import ULPS, Run, epsilon, half_of_digits, ulp


def no_reference(_change=AS_IT_IS):
    """For results that do not exist in double precision: only the CPU's result counts."""
    raise TypeError("no reference in double precision")


@dataclass(frozen=True)
class Rule:
    """How results of one call are judged.

    ``run`` gives the result in double precision, ``given`` are the arguments; ``plain`` is False for derivatives;
    ``atol`` is the error of a definition that cancels, for every element or the last dimensions, or a list of
    one for each result.
    """

    kind: Kind = Kind.COMPOSED
    run: Run = no_reference
    given: tuple[torch.Tensor, ...] = ()
    plain: bool = True
    atol: float | torch.Tensor | list = 0.0


def parts(t: torch.Tensor) -> list[torch.Tensor]:
    """The dense tensors that store the data of ``t``."""
    t = t.detach().cpu().resolve_conj().resolve_neg()
    if t.layout == torch.sparse_coo:
        t = t.coalesce()
        return [t.indices(), t.values()]
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [t.crow_indices(), t.col_indices(), t.values().clone()]
    if t.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [t.ccol_indices(), t.row_indices(), t.values().clone()]
    return [t]


def _leaves(tree: object) -> list:
    flat = tree_flatten(tree)[0]
    return [p for t in flat for p in (parts(t) if isinstance(t, torch.Tensor) else [t])]


def has_digits(tree: object) -> bool:
    """Whether there is a result of a floating-point or complex type."""
    return any(isinstance(t, torch.Tensor) and epsilon(t.dtype) > 0 for t in _leaves(tree))


def _equal(e: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Where the numbers are the same; NaN equals NaN."""
    if e.dtype == torch.complex32:  # complex32 has no comparison operators
        e, a = e.to(torch.complex64), a.to(torch.complex64)
    same = e == a
    return same | ((e != e) & (a != a)) if epsilon(e.dtype) else same


def _wide(t: torch.Tensor) -> torch.Tensor:
    return t.to(torch.complex128 if t.is_complex() else torch.float64)


def _near_cpu(
    e: torch.Tensor, a: torch.Tensor, kind: Kind, atol: float | torch.Tensor
) -> torch.Tensor:
    """Where ``a`` equals ``e`` except for the roundings of a single function."""
    same = _equal(e, a)
    if kind is Kind.SELECTION or not epsilon(e.dtype):
        return same
    e_wide, a_wide = _wide(e), _wide(a)
    near = (a_wide - e_wide).abs() <= ULPS * ulp(e_wide, e.dtype) + atol
    near = same | (near & e_wide.isfinite() & a_wide.isfinite())
    if e.is_complex():
        near |= _near_infinity(e, a, kind, atol)
    return near


def _near_infinity(
    e: torch.Tensor, a: torch.Tensor, kind: Kind, atol: float | torch.Tensor
) -> torch.Tensor:
    """Where both complex numbers are infinite or NaN, and the parts that are finite on the CPU agree.

    The sign of an infinite part, and whether it is NaN, depend on the order of products, see C's Annex G.
    """
    found = ~_wide(e).isfinite() & ~_wide(a).isfinite()
    if not found.any():
        return found
    for i in (0, 1):
        e_part, a_part = (torch.view_as_real(t.resolve_conj())[..., i] for t in (e, a))
        near = _near_cpu(e_part, a_part, kind, atol)
        if kind is not Kind.ELEMENTWISE:
            # No reference defines the error of such a part: half of its digits.
            error = (a_part.double() - e_part.double()).abs()
            near |= error <= half_of_digits(e_part.double(), e_part.dtype)
        found &= ~e_part.double().isfinite() | near
    return found


def _near_exact(
    e: torch.Tensor, a: torch.Tensor, r: torch.Tensor, bound: torch.Tensor | None
) -> torch.Tensor:
    """Where the error of ``a`` against ``r`` is within ``bound``, or at most one rounding and twice the CPU's error
    there.

    The CPU's error counts up to half of the type's digits: elements that the CPU does not write, or gets wrong, set
    no bound.
    """
    if bound is None or not epsilon(e.dtype) or r.shape != a.shape or not epsilon(r.dtype):
        return torch.zeros(a.shape, dtype=torch.bool)
    rounded = r.to(a.dtype)
    a, e, r = _wide(a), _wide(e), _wide(r)
    cpu = (2 * (e - r).abs().nan_to_num(0, 0, 0)).minimum(half_of_digits(r, rounded.dtype))
    allowed = (cpu + ulp(r, rounded.dtype)).maximum(bound.nan_to_num(0, 0, 0))
    near = ((a - r).abs() <= allowed) & a.isfinite() & r.isfinite()
    return near | _equal(rounded, a.to(rounded.dtype))


def _error_of_result(atol: float | torch.Tensor | list, which: int) -> float | torch.Tensor:
    if not isinstance(atol, list):
        return atol
    return atol[which] if which < len(atol) else 0.0


def _message(e: torch.Tensor, a: torch.Tensor, good: torch.Tensor, which: int) -> str:
    bad = ~good
    place = tuple(bad.nonzero()[0].tolist()) if bad.dim() else ()
    return (
        f"result {which}: {int(bad.sum())} of {bad.numel()} elements are wrong; "
        f"at {place} npu has {a[place].item()}, the CPU {e[place].item()}"
    )


def check_exact(expected, actual) -> None:
    """The same bits, as the same kernel gives for the same bytes; NaN equals NaN."""
    check_same(expected, actual, Rule(Kind.SELECTION))


def check_same(expected, actual, rule: Rule, *, exact: bool = False) -> None:
    """Each element is near the CPU's or near the exact one. ``exact``: it equals the CPU's."""
    theirs, ours = _leaves(expected), _leaves(actual)
    assert len(theirs) == len(ours)
    kind = Kind.SELECTION if exact else rule.kind
    good, failures = [], []
    for which, (e, a) in enumerate(zip(theirs, ours, strict=True)):
        assert isinstance(e, torch.Tensor) == isinstance(a, torch.Tensor)
        if not isinstance(e, torch.Tensor):
            if isinstance(e, int | float | complex | bool):
                torch.testing.assert_close(a, e, equal_nan=True)
            good.append(None)
            continue
        assert (a.shape, a.dtype) == (e.shape, e.dtype)
        near = _near_cpu(e, a, kind, _error_of_result(rule.atol, which))
        good.append(near)
        if not near.all():
            failures.append(_message(e, a, near, which))
    if not failures:
        return
    if kind is Kind.SELECTION:
        raise AssertionError("; ".join(failures))
    try:
        failures = _against_exact(theirs, ours, good, rule)
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        raise AssertionError("; ".join(failures)) from None
    if failures:
        raise AssertionError("; ".join(failures))


def _against_exact(theirs: list, ours: list, good: list, rule: Rule) -> list[str]:
    """What is wrong with the elements that are not in ``good``."""

    def run(change) -> list:
        return _leaves(rule.run(change))

    reference = tolerances.exact(run)
    assert len(reference) == len(theirs)
    # The bound of the last rounding is known without another run, so it is tried first.
    bounds = tolerances.last_rounding(reference, theirs)
    failures = _wrong(theirs, ours, reference, bounds, good)
    if failures and rule.kind is not Kind.ELEMENTWISE:
        bounds = tolerances.bounds(
            rule.kind, run, reference, theirs, list(rule.given), plain=rule.plain
        )
        failures = _wrong(theirs, ours, reference, bounds, good)
    return failures


def _wrong(theirs: list, ours: list, reference: list, bounds: list, good: list) -> list[str]:
    failures = []
    for which, (e, a, r, bound, near) in enumerate(
        zip(theirs, ours, reference, bounds, good, strict=True)
    ):
        if near is None or near.all():
            continue
        now = near | _near_exact(e, a, r, bound)
        if not now.all():
            exact = r[tuple((~now).nonzero()[0].tolist())].item()
            failures.append(f"{_message(e, a, now, which)}, exactly {exact}")
    return failures


# The order of equal numbers is unspecified unless a stable order is requested: the indices must point at
# the values.
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
