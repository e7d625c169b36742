"""How much a correct result may differ from the exact one, element by element: one formula for each kind of operator.

The formulas of tolerance.py with the magnitudes and numbers of terms of each element, which more runs of the operator find.

``run(change)`` computes the operator on the CPU in double precision, after ``change`` was applied to its arguments.
The formulas count roundings and have no empirical constants.
"""

from collections.abc import Callable

import torch
from torch.utils._pytree import tree_flatten

from torch_npu.accuracy.dtypes import (
    DEVIATIONS,
    ULPS,
    WIDENED,
    compute_epsilon,
    epsilon,
    half_of_digits,
    largest_finite,
    ulp,
)
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.rounding import (
    AS_IT_IS,
    MAGNITUDES,
    ONES,
    SCALED_ONES,
    Change,
    Rounded,
    perturbed,
)

Run = Callable[[Change], object]

# Runs that estimate the standard deviation of random roundings.
DRAWS = 8


def _flat(tree: object) -> list:
    return tree_flatten(tree)[0]


def _length(given: list[torch.Tensor], out: torch.Tensor) -> int:
    """The largest number of elements that one result of a reduction depends on."""
    dims = [n for t in given for n in t.shape]
    parts = [t.numel() // max(out.numel(), 1) for t in given]
    return max([1, *dims, *parts])


def _magnitude_bounds(
    kind: Kind, run: Run, reference: list, given: list[torch.Tensor], expected: list, plain: bool
) -> list:
    """``n + 4`` roundings of the sum of the terms' magnitudes, which bound a sum of ``n`` terms in any order.

    16-bit numbers are added in float32 and rounded once; between the parts of a derivative they may be rounded.
    """
    sizes, counts = _flat(run(MAGNITUDES)), _flat(run(ONES))
    bounds: list[torch.Tensor | None] = []
    for r, e, size, count in zip(reference, expected, sizes, counts, strict=True):
        if not isinstance(r, torch.Tensor) or not epsilon(e.dtype):
            bounds.append(None)
            continue
        step = compute_epsilon(e.dtype) if plain else epsilon(e.dtype)
        terms = count.abs().double()
        if kind is Kind.REDUCTION:
            terms = terms.clamp(min=_length(given, r))
        roundings = (4 if e.dtype.is_complex else 1) * (terms + 4)
        flushed = 0.0
        if kind is Kind.PRODUCT and e.dtype == torch.bfloat16:
            # The processor's bfloat16 products treat subnormal numbers as 0, and give 0 instead of them.
            scaled = _flat(run(SCALED_ONES))[len(bounds)].abs().double().maximum(terms)
            flushed = scaled * torch.finfo(torch.float32).tiny * max(1.0, _largest(given))
        bounds.append(roundings * step * size.abs() + ulp(r, e.dtype) + flushed)
    return bounds


def _rounded_bounds(run: Run, reference: list, given: list[torch.Tensor], expected: list) -> list:
    """The effect of random roundings of all arguments and intermediate results, and four roundings of the last one.

    A sum of ``n`` terms inside the operator rounds ``n`` times: a random walk of ``sqrt(n)`` steps. ``n`` is the
    longest dimension, or the number of elements that one result depends on. If that is more than half of the digits,
    of the element or of 1, the function is discontinuous. The reference also rounds the arguments' magnitude, in
    double precision: GELU of -9 is 0 there.
    """
    floating = [t.dtype for t in (*given, *expected) if isinstance(t, torch.Tensor)]
    coarsest = max((d for d in floating if epsilon(d)), key=epsilon, default=torch.float32)
    squares = [torch.zeros_like(r.abs()) if _is_widened(r) else None for r in reference]
    for seed in range(DRAWS):
        with Rounded(coarsest, seed):
            drawn = _flat(run(perturbed(coarsest, seed)))
        for i, (r, d) in enumerate(zip(reference, drawn, strict=True)):
            if squares[i] is not None and d.shape == r.shape:
                squares[i] = squares[i] + (d - r).abs().square()
    own = ULPS * epsilon(torch.float64) * _largest(given) if coarsest not in WIDENED else 0.0
    return [
        None
        if square is None or not epsilon(e.dtype)
        else ULPS * ulp(r, e.dtype)
        + own
        + (DEVIATIONS * _length(given, r) ** 0.5 * (square / DRAWS).sqrt()).minimum(
            half_of_digits(r, e.dtype)
        )
        for square, r, e in zip(squares, reference, expected, strict=True)
    ]


def _largest(given: list[torch.Tensor]) -> float:
    return max((largest_finite(t) for t in given if epsilon(t.dtype)), default=0.0)


def _is_widened(r: object) -> bool:
    return isinstance(r, torch.Tensor) and epsilon(r.dtype) > 0


def exact(run: Run) -> list:
    """The results in double precision."""
    return [r.detach() if isinstance(r, torch.Tensor) else r for r in _flat(run(AS_IT_IS))]


def last_rounding(reference: list, expected: list) -> list:
    """The largest error of each element if only the last function is rounded; None if nothing is rounded."""
    return [
        ULPS * ulp(r, e.dtype) if _is_widened(r) and epsilon(e.dtype) else None
        for r, e in zip(reference, expected, strict=True)
    ]


def bounds(
    kind: Kind,
    run: Run,
    reference: list,
    expected: list,
    given: list[torch.Tensor],
    *,
    plain: bool = True,
) -> list:
    """The largest error of each element of the ``exact`` results; None if nothing is rounded.

    ``expected`` are the results with the types that count, ``given`` the arguments; ``plain`` means that it is not a
    derivative.
    """
    if kind is Kind.ELEMENTWISE:
        return last_rounding(reference, expected)
    if kind is Kind.COMPOSED:
        return _rounded_bounds(run, reference, given, expected)
    return _magnitude_bounds(kind, run, reference, given, expected, plain)
