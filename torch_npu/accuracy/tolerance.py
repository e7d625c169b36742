"""How much an element may differ from the expected one: formulas by kind of operator and data type.

The formulas count rounding steps: ``eps`` is the epsilon of the data type, ``step`` that of the type in which sums are
computed (float32 for float16 and bfloat16), ``n`` the number of terms, ``S`` the sum of the terms' magnitudes.

===========  ==================================================
kind         allowed difference
===========  ==================================================
SELECTION    0
ELEMENTWISE  4 eps abs(x)
REDUCTION    (n + 4) step S + eps abs(x); 4 times for complex numbers
PRODUCT      the same
COMPOSED     6 sqrt(n) step S + 4 eps abs(x): a random walk
===========  ==================================================

Each has what a subnormal number loses added. Any order of a sum of ``n`` terms is within the bound of a reduction
(Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
"""

from dataclasses import dataclass

import torch

from torch_npu.accuracy.dtypes import DEVIATIONS, ULPS, compute_epsilon, epsilon, is_inexact
from torch_npu.accuracy.kinds import Kind


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of an element: ``relative`` times the expected element's magnitude, plus ``absolute``.

    Args:
        relative: a factor of the expected magnitude, without unit.
        absolute: in the result's unit; a number, or a tensor that broadcasts to the result's shape.
    """

    relative: float = 0.0
    absolute: float | torch.Tensor = 0.0

    def bound(self, expected: torch.Tensor) -> torch.Tensor:
        """The allowed absolute difference of each element, float64, of the shape of ``expected``."""
        magnitude = expected.abs().double()
        absolute = self.absolute
        if isinstance(absolute, torch.Tensor):
            absolute = absolute.detach().cpu().double()
        return self.relative * magnitude + absolute if self.relative else magnitude * 0 + absolute

    def __add__(self, other: "Tolerance") -> "Tolerance":
        """The sum of both differences."""
        return Tolerance(self.relative + other.relative, self.absolute + other.absolute)


def tolerance_of(
    kind: Kind,
    dtype: torch.dtype,
    *,
    terms: int = 1,
    magnitude: torch.Tensor | float | None = None,
    accumulated: torch.dtype | None = None,
) -> Tolerance:
    """The tolerance of a result of one operator, by the formulas of this module.

    Args:
        kind: what the operator does with its elements.
        dtype: of the result. Integers and bool have to be equal.
        terms: how many terms one element of a reduction or product has; for COMPOSED the roundings in sequence.
        magnitude: the sum of the terms' magnitudes, a number or a tensor that broadcasts to the result's shape; None
            where no terms cancel, so that it is the result's own magnitude.
        accumulated: the type in which terms are added; None: float32 for float16 and bfloat16, else ``dtype``.

    Raises:
        ValueError: ``terms`` is negative.
    """
    if terms < 0:
        raise ValueError(f"terms is {terms}: a result has none or more")
    if kind is Kind.SELECTION or not is_inexact(dtype):
        return Tolerance()
    eps = epsilon(dtype)
    subnormal = eps * torch.finfo(dtype).tiny
    if kind is Kind.ELEMENTWISE:
        return Tolerance(ULPS * eps, ULPS * subnormal)
    step = compute_epsilon(dtype) if accumulated is None else epsilon(accumulated)
    if kind is Kind.COMPOSED:
        own, roundings = ULPS, DEVIATIONS * terms**0.5
    else:
        own, roundings = 1, float((4 if dtype.is_complex else 1) * (terms + 4))
    if magnitude is None:
        return Tolerance(own * eps + roundings * step, own * subnormal)
    size = magnitude.detach().cpu().double() if isinstance(magnitude, torch.Tensor) else magnitude
    return Tolerance(own * eps, roundings * step * size + own * subnormal)
