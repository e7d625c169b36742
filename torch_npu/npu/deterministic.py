"""Determinism: its level, and its scope in a forward and backward pass."""

import torch
from torch import Tensor
from torch.autograd.function import Function, once_differentiable

from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn

_level: int | None = None  # None: as torch.use_deterministic_algorithms says

_MOST = 3


def _get_deterministic_level() -> int:
    """0 without ``torch.use_deterministic_algorithms(True)``, else 1, or the level that was set."""
    if not torch.are_deterministic_algorithms_enabled():
        return 0
    return max(_level or 0, 1)


def set_deterministic_level(level: int) -> None:
    """Sets how far results are reproducible, together with ``torch.use_deterministic_algorithms``.

    The operators of the software NPU give the same bits for the same arguments on the same number of cores at every
    level. Sums are not ordered by the position in a batch, so levels 2 and 3 give what level 1 does.

    Args:
        level: 0, no demand; 1, deterministic operators; 2, also the same bits at each position (strong consistency);
            3, also the same bits for each size of the batch.

    Raises:
        TypeError: ``level`` is not an integer.
        ValueError: there is no such level.

    Warns:
        Level 2 or 3 was asked for; ``torch.use_deterministic_algorithms`` had to be changed, and should not be called
        afterwards.
    """
    global _level
    if isinstance(level, bool) or not isinstance(level, int):
        raise TypeError(
            f"level must be an int, but got {type(level).__name__}" + pta_error(ErrCode.TYPE)
        )
    if not 0 <= level <= _MOST:
        raise ValueError(f"level must be 0 to {_MOST}, but got {level}" + pta_error(ErrCode.VALUE))
    wanted = level >= 1
    if wanted != torch.are_deterministic_algorithms_enabled():
        warn(
            "The current configuration value of 'torch_npu.npu.set_deterministic_level' conflicts with "
            "'torch.use_deterministic_algorithms'. 'torch.use_deterministic_algorithms' has been configured to "
            f"'{wanted}'.",
            stacklevel=2,
        )
        torch.use_deterministic_algorithms(wanted)
    _level = level
    if level >= 2:
        warn(
            f"set_deterministic_level({level}): results are those of level 1 here, since sums of the software NPU "
            "may be ordered otherwise for other shapes and positions.",
            stacklevel=2,
        )
    warn(
        "After using 'torch_npu.npu.set_deterministic_level', please do not use "
        "'torch.use_deterministic_algorithms' anymore, as it may cause unknown errors.",
        stacklevel=2,
    )


class _Scope(Function):
    """The identity; sets determinism when it runs forward, and the opposite when its gradient does."""

    @staticmethod
    def forward(ctx: object, tensor: Tensor, enabled: bool) -> Tensor:
        ctx.enabled = enabled  # type: ignore[attr-defined]
        torch.use_deterministic_algorithms(enabled)
        return tensor.view_as(tensor)

    @staticmethod
    @once_differentiable
    def backward(ctx: object, gradient: Tensor) -> tuple[Tensor, None]:
        torch.use_deterministic_algorithms(not ctx.enabled)  # type: ignore[attr-defined]
        return gradient, None


def enable_deterministic_with_backward(tensor: Tensor) -> Tensor:
    """Begins a scope in which algorithms are deterministic, in the forward pass and in the backward pass.

    Args:
        tensor: the input of the scope's first operator.

    Returns:
        The same values; the operators of the scope must use the result, so that its gradient ends the scope.
    """
    return _Scope.apply(tensor, True)


def disable_deterministic_with_backward(tensor: Tensor) -> Tensor:
    """Ends the scope of :func:`enable_deterministic_with_backward`; its gradient begins the backward pass's.

    Args:
        tensor: the result of the scope's last operator.
    """
    return _Scope.apply(tensor, False)


# Dynamo would fold the change of a global setting.
for _function in (enable_deterministic_with_backward, disable_deterministic_with_backward):
    _function._dynamo_forbidden = True  # type: ignore[attr-defined]

__all__ = ["disable_deterministic_with_backward", "enable_deterministic_with_backward"]
