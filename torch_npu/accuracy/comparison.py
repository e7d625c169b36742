"""Compares one result with a reference, element by element."""

import math
from dataclasses import dataclass

import torch

from torch_npu.accuracy.dtypes import WIDENED, is_inexact, widened
from torch_npu.accuracy.elements import equal_elements, within
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.tolerance import Tolerance, tolerance_of

Number = int | float | complex | bool


@dataclass(frozen=True)
class Element:
    """One wrong element.

    Args:
        index: of the element, a number for each dimension.
        actual: its value.
        expected: the reference's value.
        error: the absolute difference; infinite where only one value is finite.
        bound: the allowed absolute difference.
    """

    index: tuple[int, ...]
    actual: Number
    expected: Number
    error: float
    bound: float

    def __str__(self) -> str:
        """Index, both values, difference and bound."""
        return (
            f"at {self.index} it is {self.actual}, not {self.expected}: "
            f"a difference of {self.error:.3g}, {self.bound:.3g} is allowed"
        )


@dataclass(frozen=True)
class Comparison:
    """What ``compare`` found.

    Args:
        shape: of the result.
        dtype: of the result.
        elements: how many it has.
        wrong: how many of them differ by more than is allowed.
        worst: the wrong element with the largest difference in units of its bound; None where none is wrong.
        max_absolute: the largest absolute difference; infinite where only one of two values is finite.
        max_relative: the largest difference divided by the expected magnitude, of elements that are not expected to be 0.
        cosine: the cosine similarity of all elements: 1 for equal directions, NaN where a value is not finite.
        problem: what prevents a comparison by elements, such as another shape; empty if nothing does.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    elements: int
    wrong: int = 0
    worst: Element | None = None
    max_absolute: float = 0.0
    max_relative: float = 0.0
    cosine: float = 1.0
    problem: str = ""

    @property
    def is_close(self) -> bool:
        """Whether shapes and types fit and no element is wrong."""
        return not self.problem and not self.wrong

    def __str__(self) -> str:
        """One line: what is wrong, or the largest difference."""
        if self.problem:
            return self.problem
        if self.worst is None:
            return f"{self.elements} elements are close: differences up to {self.max_absolute:.3g}"
        return f"{self.wrong} of {self.elements} elements are wrong; the worst {self.worst}"


def on_cpu(t: torch.Tensor) -> torch.Tensor:
    """The tensor's numbers on the CPU, strided and detached; those of quantized tensors in float32.

    Raises:
        TypeError: the tensor is nested.
    """
    if t.is_nested:
        raise TypeError("nested tensors are compared one by one: unbind() gives them")
    t = t.detach().cpu().resolve_conj().resolve_neg()
    if t.is_quantized:
        return t.dequantize()
    return t.to_dense() if t.layout != torch.strided else t


def _problem(actual: torch.Tensor, expected: torch.Tensor, *, check_dtype: bool) -> str:
    if actual.shape != expected.shape:
        return f"the shape is {list(actual.shape)}, not {list(expected.shape)}"
    is_reference = (
        expected.dtype in WIDENED
        and is_inexact(actual.dtype)
        and actual.is_complex() == expected.is_complex()
    )
    if check_dtype and actual.dtype != expected.dtype and not is_reference:
        return f"the dtype is {actual.dtype}, not {expected.dtype}"
    return ""


def _differences(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The absolute differences in float64: 0 of equal numbers, infinite where only one of two is finite."""
    e, a = widened(expected), widened(actual)
    same = equal_elements(e, a)
    return torch.where(same, 0.0, (a - e).abs().nan_to_num(math.inf, math.inf))


def _cosine(actual: torch.Tensor, expected: torch.Tensor) -> float:
    e, a = (widened(t).flatten() for t in (expected, actual))
    if not (e.isfinite().all() and a.isfinite().all()):
        return math.nan
    scales = [float(t.abs().max()) if t.numel() else 0.0 for t in (e, a)]
    if 0.0 in scales:
        return 1.0 if scales[0] == scales[1] else 0.0
    e, a = e / scales[0], a / scales[1]
    return float((e.conj() * a).sum().real / (e.norm() * a.norm()))


def describe(
    actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, bound: torch.Tensor
) -> Comparison:
    """The comparison of two tensors of one shape on the CPU, of which the elements ``wrong`` are wrong.

    Args:
        actual: the result.
        expected: the reference.
        wrong: bool, of the same shape.
        bound: the allowed absolute differences, float64, of the same shape.
    """
    error = _differences(actual, expected)
    count = int(wrong.sum())
    worst = None
    if count:
        measure = error / bound.clamp(min=torch.finfo(torch.float64).tiny)
        measure = measure.nan_to_num(math.inf, math.inf)
        flat = int(torch.where(wrong, measure, -1.0).argmax())
        index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), wrong.shape))
        values = (actual[index].item(), expected[index].item())
        worst = Element(index, *values, float(error[index]), float(bound[index]))
    magnitude = widened(expected).abs()
    relative = torch.where(magnitude > 0, error / magnitude, 0.0).nan_to_num(math.inf, math.inf)
    return Comparison(
        tuple(actual.shape),
        actual.dtype,
        actual.numel(),
        count,
        worst,
        float(error.max()) if error.numel() else 0.0,
        float(relative.max()) if error.numel() else 0.0,
        _cosine(actual, expected),
    )


@dataclass(frozen=True)
class _Pair:
    """Two tensors on the CPU that can be compared by elements, the wrong ones and the bound of each."""

    actual: torch.Tensor
    expected: torch.Tensor
    wrong: torch.Tensor
    bound: torch.Tensor

    def comparison(self) -> Comparison:
        return describe(self.actual, self.expected, self.wrong, self.bound)


def _judged(
    actual: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance | None,
    *,
    check_dtype: bool,
    equal_nan: bool,
    signed_zeros: bool,
) -> _Pair | Comparison:
    """The pair with its wrong elements, or a comparison with a problem."""
    for name, value in (("actual", actual), ("expected", expected)):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{name} is {type(value).__name__}, not a tensor")
    actual, expected = on_cpu(actual), on_cpu(expected)
    if problem := _problem(actual, expected, check_dtype=check_dtype):
        shape, count = tuple(actual.shape), actual.numel()
        nan = math.nan
        return Comparison(shape, actual.dtype, count, count, None, nan, nan, nan, problem)
    # A reference in double precision is rounded as the best result is: infinities compare equal.
    rounded = expected.to(actual.dtype)
    wrong = ~equal_elements(rounded, actual, equal_nan=equal_nan, signed_zeros=signed_zeros)
    if not is_inexact(actual.dtype):
        return _Pair(actual, expected, wrong, torch.zeros(actual.shape, dtype=torch.float64))
    if tolerance is None:
        tolerance = tolerance_of(Kind.ELEMENTWISE, actual.dtype)
    bound = tolerance.bound(expected).expand(actual.shape)
    near = within(expected, actual, bound)
    if signed_zeros and not actual.is_complex():
        near &= (actual != 0) | (expected != 0)
    return _Pair(actual, expected, wrong & ~near, bound)


def compare(
    actual: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance | None = None,
    *,
    check_dtype: bool = True,
    equal_nan: bool = True,
    signed_zeros: bool = False,
) -> Comparison:
    """Compares a result with a reference, element by element.

    An element is right if it equals the expected one, rounded to the result's type, or if both are finite and differ
    by the tolerance at most. Integers and bool have to be equal.

    Args:
        actual: the result, of any shape, dtype, device and layout; sparse and quantized tensors count as their numbers.
        expected: the reference, of the same shape and dtype, or in float64 (complex128) for any floating-point
            (complex) result.
        tolerance: the allowed differences; None: those of an elementwise operator of the result's dtype.
        check_dtype: False allows any dtype of ``expected``, which is then converted.
        equal_nan: NaN equals NaN.
        signed_zeros: 0.0 and -0.0 differ; for real numbers.

    Raises:
        TypeError: an argument is not a tensor, or nested.
    """
    found = _judged(
        actual,
        expected,
        tolerance,
        check_dtype=check_dtype,
        equal_nan=equal_nan,
        signed_zeros=signed_zeros,
    )
    return found if isinstance(found, Comparison) else found.comparison()


def assert_close(
    actual: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance | None = None,
    *,
    check_dtype: bool = True,
    equal_nan: bool = True,
    signed_zeros: bool = False,
    message: object = "",
) -> None:
    """Checks that ``compare`` finds nothing wrong.

    Args:
        actual: the result, as for ``compare``.
        expected: the reference, as for ``compare``.
        tolerance: the allowed differences; None: those of an elementwise operator of the result's dtype.
        check_dtype: False allows any dtype of ``expected``, which is then converted.
        equal_nan: NaN equals NaN.
        signed_zeros: 0.0 and -0.0 differ; for real numbers.
        message: what is compared, the beginning of the error's text.

    Raises:
        AssertionError: shapes or dtypes differ, or an element is wrong; the text has their number, and the worst one
            with index and both values.
        TypeError: an argument is not a tensor, or nested.
    """
    found = _judged(
        actual,
        expected,
        tolerance,
        check_dtype=check_dtype,
        equal_nan=equal_nan,
        signed_zeros=signed_zeros,
    )
    if isinstance(found, _Pair):
        if not found.wrong.any():
            return
        found = found.comparison()
    raise AssertionError(f"{message}: {found}" if message != "" else str(found))
