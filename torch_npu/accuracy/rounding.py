"""Arguments and results of a computation in double precision, changed as a formula of bounds.py needs them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch._decomp import get_decompositions
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from torch_npu.accuracy.dtypes import WIDENED, WIDER

Tree = TypeVar("Tree")


@dataclass(frozen=True)
class Change:
    """What happens to arguments in double precision before a computation.

    Args:
        tensor: gives the changed tensor, float64 or complex128, of the same shape.
        factor: gives the changed number of an argument ``alpha`` or ``beta``.
    """

    tensor: Callable[[torch.Tensor], torch.Tensor]
    factor: Callable[[complex], complex] = lambda x: x


AS_IT_IS = Change(lambda x: x)
MAGNITUDES = Change(lambda x: x.abs().to(x.dtype), abs)
SCALED_ONES = Change(lambda x: (x != 0).to(x.dtype), abs)
ONES = Change(lambda x: (x != 0).to(x.dtype), lambda x: 1.0 if x else 0.0)


def _signs(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(0, 2, x.shape, generator=generator).double().mul_(2).sub_(1)


def perturbed(dtype: torch.dtype, seed: int) -> Change:
    """Moves each element by one rounding of ``dtype``, up or down; ``seed`` draws the directions."""
    generator = torch.Generator().manual_seed(seed)
    step = torch.finfo(dtype).eps
    return Change(lambda x: x * (1 + step * _signs(x, generator)))


def changed(tree: Tree, change: Change = AS_IT_IS) -> Tree:
    """The tree with its tensors and dtypes in double precision, and ``change`` applied to them."""

    def one(t: object) -> object:
        if isinstance(t, dict):
            return {
                k: change.factor(v)
                if k in ("alpha", "beta") and isinstance(v, int | float | complex)
                else changed(v, change)
                for k, v in t.items()
            }
        if isinstance(t, torch.Tensor):
            widened = t.detach().to(WIDER.get(t.dtype, t.dtype))
            if widened.dtype in WIDENED:
                widened = change.tensor(widened) if widened.layout == torch.strided else widened
            return widened.requires_grad_(t.requires_grad)
        return WIDER.get(t, t) if isinstance(t, torch.dtype) else t

    return tree_map(one, tree, is_leaf=lambda t: isinstance(t, dict))


def widened_integers(tree: Tree) -> Tree | None:
    """The tree with its integers in double precision if it has no other numbers; else None."""
    tensors = [t for t in tree_flatten(tree)[0] if isinstance(t, torch.Tensor)]
    if not tensors or any(t.is_floating_point() or t.is_complex() for t in tensors):
        return None

    def one(t: object) -> object:
        return t.double() if isinstance(t, torch.Tensor) and t.layout == torch.strided else t

    return tree_map(one, tree)


class Rounded(TorchDispatchMode):
    """Rounds what operators return in double precision to about ``dtype``'s digits, up or down at random.

    Numbers that are exact in ``dtype`` are unchanged: constants, and numbers that were selected or moved, are exact.
    """

    def __init__(self, dtype: torch.dtype, seed: int) -> None:
        """``seed`` draws the directions."""
        super().__init__()
        self._step = torch.finfo(dtype).eps
        # For float64, numbers that are exact in float32 count as exact.
        self._exact = dtype if dtype in (torch.float16, torch.bfloat16) else torch.float32
        self._generator = torch.Generator().manual_seed(1000 + seed)

    def _round(self, t: torch.Tensor) -> None:
        real = torch.view_as_real(t) if t.is_complex() else t
        inexact = real != real.to(self._exact).to(real.dtype)
        real.copy_(real * (1 + self._step * _signs(real, self._generator) * inexact))

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Runs the operator and rounds its results in place."""
        if func in _CANCELLING:
            with self:
                return _CANCELLING[func](*args, **(kwargs or {}))
        out = func(*args, **(kwargs or {}))
        aliases = [r.alias_info for r in func._schema.returns]
        if any(alias is not None and not alias.is_write for alias in aliases):
            return out
        if func._schema.name in _CHOOSING or math.inf in map(_magnitude, args):
            return out
        for t in tree_flatten(out)[0]:
            if _has_digits(t):
                self._round(t)
        return out


# Operators with a difference of rounded numbers inside: rounded step by step, as PyTorch decomposes them.
_CANCELLING = get_decompositions(
    [
        torch.ops.aten._log_softmax_backward_data,
        torch.ops.aten._softmax_backward_data,
        torch.ops.aten.gelu,
        torch.ops.aten.gelu_backward,
        torch.ops.aten.mish_backward,
        torch.ops.aten.silu_backward,
    ]
)

# Operators that return numbers of their arguments, which later operators may compare with these; also norms of order
# infinity.
_CHOOSING = {
    f"aten::{name}"
    for name in (
        "amax", "amin", "aminmax", "max", "min", "maximum", "minimum", "median", "mode", "sort", "topk", "where", "abs",
        "masked_fill", "index", "gather", "index_select", "cat", "stack", "_to_copy", "clone", "copy_", "set_",
    )
}  # fmt: skip


def _magnitude(argument: object) -> float:
    return abs(argument) if isinstance(argument, int | float) else 0.0


def _has_digits(t: object) -> bool:
    """Whether it is a tensor in double precision that stores its numbers."""
    return (
        isinstance(t, torch.Tensor)
        and t.dtype in WIDENED
        and t.layout == torch.strided
        and t.device.type == "cpu"
        and not t._is_zerotensor()
    )
