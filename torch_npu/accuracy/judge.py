"""Whether a device's results are correct: near the CPU's, or near the exact ones in double precision.

Each element has its own tolerance, from `bounds.py`; it does not depend on other elements.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from torch_npu.accuracy import bounds
from torch_npu.accuracy.bounds import Run
from torch_npu.accuracy.comparison import describe
from torch_npu.accuracy.dtypes import ULPS, epsilon, half_of_digits, ulp, widened
from torch_npu.accuracy.elements import equal_elements, within
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.rounding import AS_IT_IS, Change


def no_reference(_change: Change = AS_IT_IS) -> object:
    """For results that do not exist in double precision: only the CPU's result counts."""
    raise TypeError("no reference in double precision")


@dataclass(frozen=True)
class Rule:
    """How results of one call are judged.

    Args:
        kind: of the operator.
        run: gives the results in double precision on the CPU, after a change of the arguments.
        given: the arguments of the call that are tensors.
        plain: False for derivatives.
        atol: the absolute error of a definition that cancels, for every element or the last dimensions, or a list of one
            for each result.
    """

    kind: Kind = Kind.COMPOSED
    run: Run = no_reference
    given: tuple[torch.Tensor, ...] = ()
    plain: bool = True
    atol: float | torch.Tensor | list[Any] = 0.0


def parts(t: torch.Tensor) -> list[torch.Tensor]:
    """The dense tensors on the CPU that store the data of ``t``: values, and the indices of a sparse tensor."""
    t = t.detach().cpu().resolve_conj().resolve_neg()
    if t.layout == torch.sparse_coo:
        t = t.coalesce()
        return [t.indices(), t.values()]
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [t.crow_indices(), t.col_indices(), t.values().clone()]
    if t.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [t.ccol_indices(), t.row_indices(), t.values().clone()]
    return [t]


def _leaves(tree: object) -> list[Any]:
    flat = tree_flatten(tree)[0]
    return [p for t in flat for p in (parts(t) if isinstance(t, torch.Tensor) else [t])]


def has_digits(tree: object) -> bool:
    """Whether there is a result of a floating-point or complex type."""
    return any(isinstance(t, torch.Tensor) and epsilon(t.dtype) > 0 for t in _leaves(tree))


def _near_cpu(
    e: torch.Tensor, a: torch.Tensor, kind: Kind, atol: float | torch.Tensor
) -> torch.Tensor:
    """Where ``a`` equals ``e`` except for the roundings of a single function."""
    same = equal_elements(e, a)
    if kind is Kind.SELECTION or not epsilon(e.dtype):
        return same
    near = same | within(e, a, ULPS * ulp(widened(e), e.dtype) + atol)
    if e.is_complex():
        near |= _near_infinity(e, a, kind, atol)
    return near


def _near_infinity(
    e: torch.Tensor, a: torch.Tensor, kind: Kind, atol: float | torch.Tensor
) -> torch.Tensor:
    """Where both complex numbers are infinite or NaN, and the parts that are finite on the CPU agree.

    The sign of an infinite part, and whether it is NaN, depend on the order of products, see C's Annex G.
    """
    found = ~widened(e).isfinite() & ~widened(a).isfinite()
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
    """Where the error of ``a`` against ``r`` is within ``bound``, or one rounding and twice the CPU's error there.

    The CPU's error counts up to half of the type's digits: elements that the CPU does not write, or gets wrong, set
    no bound.
    """
    if bound is None or not epsilon(e.dtype) or r.shape != a.shape or not epsilon(r.dtype):
        return torch.zeros(a.shape, dtype=torch.bool)
    rounded = r.to(a.dtype)
    a, e, r = widened(a), widened(e), widened(r)
    cpu = (2 * (e - r).abs().nan_to_num(0, 0, 0)).minimum(half_of_digits(r, rounded.dtype))
    allowed = (cpu + ulp(r, rounded.dtype)).maximum(bound.nan_to_num(0, 0, 0))
    return within(r, a, allowed) | equal_elements(rounded, a.to(rounded.dtype))


def _error_of_result(atol: float | torch.Tensor | list[Any], which: int) -> float | torch.Tensor:
    if not isinstance(atol, list):
        return atol
    return atol[which] if which < len(atol) else 0.0


def _text(
    which: int,
    expected: torch.Tensor,
    actual: torch.Tensor,
    good: torch.Tensor,
    bound: torch.Tensor | float,
) -> str:
    bound = torch.as_tensor(bound, dtype=torch.float64).expand(actual.shape)
    return f"result {which}: {describe(actual, expected, ~good, bound)}"


@dataclass
class _Result:
    """One of the results that are tensors, and which of its elements are known to be right."""

    which: int
    expected: torch.Tensor
    actual: torch.Tensor
    good: torch.Tensor
    problem: str = ""

    def near_cpu(self, kind: Kind, atol: float | torch.Tensor) -> None:
        """Judges by the CPU's result."""
        self.good = _near_cpu(self.expected, self.actual, kind, atol)
        if not self.good.all():
            rounds = kind is not Kind.SELECTION and epsilon(self.expected.dtype)
            unit = ulp(widened(self.expected), self.expected.dtype) if rounds else 0.0
            bound = ULPS * unit + atol if rounds else 0.0
            self.problem = _text(self.which, self.expected, self.actual, self.good, bound)

    def near_exact(self, exact: torch.Tensor, bound: torch.Tensor | None) -> None:
        """Judges the elements that are not near the CPU's by the exact result."""
        if self.good.all():
            return
        good = self.good | _near_exact(self.expected, self.actual, exact, bound)
        if good.all():
            self.problem = ""
        elif bound is not None and exact.shape == self.actual.shape:
            text = _text(self.which, exact, self.actual, good, bound.nan_to_num(0, 0, 0))
            location = (~good).nonzero()[0].tolist()
            cpu = self.expected[tuple(location)].item()
            self.problem = f"{text}; the CPU has {cpu} at {tuple(location)}"


def _pairs(expected: object, actual: object) -> tuple[list[Any], list[Any]]:
    """The results of two calls as lists of dense tensors and numbers.

    Raises:
        AssertionError: they have other numbers, types, shapes or dtypes.
    """
    theirs, ours = _leaves(expected), _leaves(actual)
    if len(theirs) != len(ours):
        raise AssertionError(f"{len(ours)} results, not {len(theirs)}")
    for which, (e, a) in enumerate(zip(theirs, ours, strict=True)):
        if isinstance(e, torch.Tensor) != isinstance(a, torch.Tensor):
            raise AssertionError(f"result {which} is {type(a).__name__}, not {type(e).__name__}")
        if isinstance(e, torch.Tensor) and (a.shape, a.dtype) != (e.shape, e.dtype):
            raise AssertionError(
                f"result {which} is {a.dtype} {list(a.shape)}, not {e.dtype} {list(e.shape)}"
            )
        if not isinstance(e, torch.Tensor) and isinstance(e, int | float | complex | bool):
            torch.testing.assert_close(a, e, equal_nan=True)
    return theirs, ours


def check_exact(expected: object, actual: object) -> None:
    """The same numbers, as the same kernel gives for the same bytes; NaN equals NaN.

    Args:
        expected: the CPU's results: tensors and numbers, in lists, tuples and dicts.
        actual: the device's, of the same structure.

    Raises:
        AssertionError: a result differs; the text has the number of wrong elements and the worst one.
    """
    check_same(expected, actual, Rule(Kind.SELECTION))


def check_same(expected: object, actual: object, rule: Rule, *, exact: bool = False) -> None:
    """Checks that each element is near the CPU's or near the exact one.

    Args:
        expected: the CPU's results: tensors and numbers, in lists, tuples and dicts.
        actual: the device's, of the same structure.
        rule: how they are judged.
        exact: elements have to equal the CPU's.

    Raises:
        AssertionError: a result differs; the text has the number of wrong elements and the worst one.
    """
    theirs, ours = _pairs(expected, actual)
    kind = Kind.SELECTION if exact else rule.kind
    results = []
    for which, (e, a) in enumerate(zip(theirs, ours, strict=True)):
        if isinstance(e, torch.Tensor):
            results.append(_Result(which, e, a, torch.zeros(a.shape, dtype=torch.bool)))
            results[-1].near_cpu(kind, _error_of_result(rule.atol, which))
    if any(r.problem for r in results) and kind is not Kind.SELECTION:
        # Where there is no result in double precision, the CPU's counts.
        with suppress(RuntimeError, TypeError, ValueError, NotImplementedError):
            _against_exact(theirs, results, rule)
    if problems := [r.problem for r in results if r.problem]:
        raise AssertionError("; ".join(problems))


def _against_exact(theirs: list[Any], results: list[_Result], rule: Rule) -> None:
    """Judges the elements that are not near the CPU's by the results in double precision."""

    def run(change: Change) -> list[Any]:
        return _leaves(rule.run(change))

    reference = bounds.exact(run)
    if len(reference) != len(theirs):
        raise AssertionError(f"{len(reference)} results in double precision, not {len(theirs)}")
    # The bound of the last rounding is known without another run, so it is tried first.
    allowed = bounds.last_rounding(reference, theirs)
    for r in results:
        r.near_exact(reference[r.which], allowed[r.which])
    if any(r.problem for r in results) and rule.kind is not Kind.ELEMENTWISE:
        allowed = bounds.bounds(
            rule.kind, run, reference, theirs, list(rule.given), plain=rule.plain
        )
        for r in results:
            if r.problem:
                r.near_exact(reference[r.which], allowed[r.which])
