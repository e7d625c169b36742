"""When two results of a test are equal: the rules of the official plug-in's ``TestCase``, as functions.

Each returns what is wrong, and an empty text if nothing is.
"""

from collections.abc import Sequence
from numbers import Number

import numpy as np
import torch

# The addition to the divisor of a relative error, so that zeros have one.
_LEAST = {np.dtype(np.float16): 6e-8}
_LEAST_OF_OTHERS = 1e-9
_COMPARED = (
    np.float16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64,
)  # fmt: skip


def _relative_problem_of_arrays(x: np.ndarray, y: np.ndarray, prec: float, prec16: float) -> str:
    if x.shape != y.shape:
        return f"shape error: {x.shape} and {y.shape}"
    if x.dtype != y.dtype:
        return f"dtype error: {x.dtype} and {y.dtype}"
    if x.dtype == np.bool_:
        return "" if np.array_equal(x, y) else "result error"
    if x.dtype not in _COMPARED:
        return f"arrays of {x.dtype} are not compared"
    limit = prec16 if x.dtype == np.float16 else prec
    is_nan = np.isnan(x)
    if not np.array_equal(is_nan, np.isnan(y)):
        return "NaN at different indices"
    error = np.abs(np.where(is_nan, 0, y - x))
    size = np.add(np.maximum(np.abs(x), np.abs(y)), _LEAST.get(x.dtype, _LEAST_OF_OTHERS))
    # `limit` is the bound of errors and the share of elements that may exceed it, by either measure.
    allowed = x.size * limit
    too_far = [int(np.sum(~(measure <= limit) & ~is_nan)) for measure in (error, error / size)]
    return "" if min(too_far) <= allowed else f"result error: {min(too_far)} of {x.size} elements"


def relative_problem(x: object, y: object, prec: float, prec16: float, *, converts: bool) -> str:
    """Compares numbers, arrays, tensors of any devices, and sequences of them.

    Args:
        x: one of them.
        y: another one of the same shape and dtype.
        prec: the greatest absolute or relative error.
        prec16: the same for half precision.
        converts: tensors ``x`` get the dtype of ``y`` first.
    """
    if isinstance(x, Sequence) and isinstance(y, Sequence):
        pairs = zip(x, y, strict=False)
        problems = (relative_problem(*pair, prec, prec16, converts=converts) for pair in pairs)
        return next(filter(None, problems), "")
    if isinstance(x, torch.Tensor) and isinstance(y, Sequence):
        y = torch.as_tensor(y, dtype=x.dtype, device=x.device)
    elif isinstance(x, Sequence) and isinstance(y, torch.Tensor):
        x = torch.as_tensor(x, dtype=y.dtype, device=y.device)
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
        x, y = x.detach().cpu(), y.detach().cpu()
        if converts:
            x = x.to(y.dtype)
        if x.dtype == y.dtype == torch.bfloat16:
            if x.shape != y.shape:
                return f"shape error: {tuple(x.shape)} and {tuple(y.shape)}"
            return "" if torch.allclose(x, y, rtol=prec16, atol=prec16) else "result error"
        x, y = x.numpy(), y.numpy()
    elif isinstance(x, Number) and isinstance(y, Number):
        x, y = np.array(x), np.array(y)
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        return f"{type(x).__name__} and {type(y).__name__} are not compared"
    return _relative_problem_of_arrays(x, y, prec, prec16)


def tensor_problem(
    x: torch.Tensor, y: torch.Tensor, prec: float, *, exact_dtype: bool, allow_inf: bool
) -> str:
    """Compares two strided tensors by their greatest absolute difference."""
    if x.shape != y.shape:
        return f"sizes {tuple(x.shape)} and {tuple(y.shape)}"
    if exact_dtype and x.dtype != y.dtype:
        return f"dtypes {x.dtype} and {y.dtype}"
    if (x.dtype == torch.bool) != (y.dtype == torch.bool):
        raise TypeError("Was expecting both tensors to be bool type.")
    if x.numel() == 0:
        return ""
    widened = torch.complex128 if x.is_complex() else torch.float64
    x, y = x.detach().cpu().to(widened), y.detach().cpu().to(widened)
    is_nan = torch.isnan(x)
    if not torch.equal(is_nan, torch.isnan(y)):
        return "NaN at different indices"
    error = torch.where(is_nan, 0, x - y).abs()
    if allow_inf:
        is_inf = torch.isinf(x)
        if not torch.equal(is_inf, torch.isinf(y)) or not torch.equal(x[is_inf], y[is_inf]):
            return "infinities at different indices"
        error[is_inf] = 0
    largest = error.max().item()
    return "" if largest <= prec else f"the greatest difference is {largest}, above {prec}"
