"""Whether two results of a draw are both good: the same bits, or as near to float64 as the type and the operator allow."""

import math
from collections.abc import Callable

import torch

# Roundings of an elementwise function that a good library stays within.
ULPS = 4
_FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_COMPLEX = (torch.complex64, torch.complex128)


def same_bits(e: object, a: object) -> bool:
    """Whether two results are equal; NaN equals NaN, 0.0 equals -0.0."""
    if not isinstance(e, torch.Tensor):
        return e == a or (e != e and a != a)
    return e.shape == a.shape and e.dtype == a.dtype and torch.equal(_nan_free(e), _nan_free(a))


def _nan_free(t: torch.Tensor) -> torch.Tensor:
    if t.dtype in _FLOATING:
        return torch.where(t.isnan(), torch.full_like(t, 12345.0), t)
    return torch.view_as_real(t).nan_to_num(nan=12345.0) if t.dtype in _COMPLEX else t


def _spacing(reference: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance between neighbours of ``dtype`` at each element."""
    info = torch.finfo(dtype)
    return (reference.abs() * info.eps).clamp_min(info.smallest_normal * info.eps)


def _error(t: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    wide = t.to(reference.dtype)
    same = (wide == reference) | (wide.isnan() & reference.isnan())
    return torch.where(
        same, 0.0, (wide - reference).abs().nan_to_num(nan=math.inf, posinf=math.inf)
    )


class References:
    """Other results of the same call on the CPU, asked for when two results differ; None where the CPU refuses it.

    ``wide``: in float64. ``nudged``: in float64 of arguments one rounding away: what a function makes of the error
    that its arguments have anyway. ``dense``: of dense copies of the arguments. ``magnitude`` bounds what a sum of many
    terms is off by, in roundings; 0 for elementwise functions.
    """

    def __init__(self, ask: Callable[[str], list | None], magnitude: Callable[[], float]):
        self._ask = ask
        self._results: dict[str, list | None] = {}
        self.magnitude = magnitude

    def get(self, kind: str, index: int) -> torch.Tensor | None:
        """Result ``index`` of that kind."""
        if kind not in self._results:
            self._results[kind] = self._ask(kind)
        results = self._results[kind]
        return results[index] if results is not None and index < len(results) else None


def problem(expected: list, actual: list, references: References) -> str:
    """What is wrong with ``actual``, or nothing."""
    if len(expected) != len(actual):
        return f"{len(actual)} results, not {len(expected)}"
    for index, (e, a) in enumerate(zip(expected, actual, strict=True)):
        if isinstance(e, torch.Tensor) != isinstance(a, torch.Tensor):
            return f"result {index} is {type(a).__name__}, not {type(e).__name__}"
        if same_bits(e, a):
            continue
        if not isinstance(e, torch.Tensor):
            return f"result {index} is {a!r}, not {e!r}"
        if (e.shape, e.dtype) != (a.shape, a.dtype):
            return f"result {index} is {a.dtype} {list(a.shape)}, not {e.dtype} {list(e.shape)}"
        if text := _element_problem(e, a, index, references):
            return f"result {index}: {text}"
    return ""


def _real(t: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor | None:
    if t is None or t.shape != like.shape:
        return None
    return torch.view_as_real(t.to(torch.complex128)) if like.dtype in _COMPLEX else t


def _element_problem(e, a, index: int, references: References) -> str:
    w = _real(references.get("wide", index), e)
    if e.dtype not in (*_FLOATING, *_COMPLEX):
        w = e if w is None else w
        wrong = (a != e) & (a.to(w.dtype) != w)
        return _first(wrong, e, a, w) if wrong.any() else ""
    nudged = _real(references.get("nudged", index), e)
    if e.dtype in _COMPLEX:
        e, a = torch.view_as_real(e), torch.view_as_real(a)
    w = (e if w is None else w).double()
    wrong = _wrong(e, a, w)
    if wrong.any() and nudged is not None:
        wrong &= _error(a, w) > 2 * _error(nudged.double(), w).nan_to_num(posinf=0.0)
    if wrong.any():
        wrong &= _error(a, w) > references.magnitude() * torch.finfo(e.dtype).eps
    return _first(wrong, e, a, w) if wrong.any() else ""


def _wrong(e, a, w) -> torch.Tensor:
    """Where ``a`` is further from ``w`` than a few roundings and twice the CPU's error, element by element."""
    overflowed = torch.where(w.abs() > torch.finfo(e.dtype).max, torch.sign(w) * math.inf, w)
    theirs = torch.minimum(_error(e, w), _error(e, overflowed))
    ours = torch.minimum(_error(a, w), _error(a, overflowed))
    theirs = torch.where(theirs.isinf(), 0.0, theirs)  # a CPU that overflowed is no measure
    allowed = torch.maximum(2 * theirs, ULPS * _spacing(w, e.dtype).nan_to_num(nan=0.0, posinf=0.0))
    # Where the CPU has the same number, float64 asks for what the type cannot give.
    return (ours > allowed) & ~((a == e) | (a.isnan() & e.isnan()))


def _first(wrong, e, a, w) -> str:
    at = int(wrong.reshape(-1).nonzero()[0])
    numbers = [t.reshape(-1)[at].item() for t in (a, e, w)]
    return (
        f"{int(wrong.sum())} of {wrong.numel()} elements, first at {at}: npu {numbers[0]!r}, CPU {numbers[1]!r}, "
        f"float64 {numbers[2]!r}"
    )
