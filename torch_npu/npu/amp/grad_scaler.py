"""Gradient scaling for mixed precision: ``torch.amp.GradScaler`` for npu with a static scale and the overflow flag."""

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch.amp.grad_scaler import _refresh_per_optimizer_state

from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn
from torch_npu.npu import overflow
from torch_npu.npu.amp.common import amp_definitely_not_available
from torch_npu.npu.legacy import FloatTensor

__all__ = ["GradScaler"]


def _checked_scale(scale: object) -> torch.Tensor:
    reason = (
        "new_scale should be a float or a 1-element torch.npu.FloatTensor with requires_grad=False."
    )
    if not isinstance(scale, torch.Tensor) or not isinstance(scale, FloatTensor):
        raise TypeError(reason + pta_error(ErrCode.TYPE))
    if scale.numel() != 1 or scale.requires_grad:
        raise ValueError(reason + pta_error(ErrCode.VALUE))
    return scale.reshape(())


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler("npu", ...)``: scales losses so that float16 gradients do not underflow.

    In saturation mode (``INF_NAN_MODE_FORCE_DISABLE=1``) the overflow flag also counts as an overflow of a step.

    Args:
        init_scale: the first scale.
        growth_factor: multiplies the scale after ``growth_interval`` steps without overflow; above 1.
        backoff_factor: multiplies the scale after a step that overflowed; below 1.
        growth_interval: a number of steps.
        dynamic: False keeps the scale, does not look for overflows and makes every step.
        enabled: False makes all methods pass their arguments on.

    Raises:
        ValueError: a factor is out of its range.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        """See the class for the arguments."""
        if enabled and amp_definitely_not_available():
            warn(
                "torch_npu.amp.GradScaler is enabled, but NPU is not available. Disabling.",
                stacklevel=2,
            )
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise ValueError("The growth factor must be > 1.0." + pta_error(ErrCode.VALUE))
        if enabled and backoff_factor >= 1.0:
            raise ValueError("The backoff factor must be < 1.0." + pta_error(ErrCode.VALUE))
        super().__init__(
            "npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled=enabled
        )
        self._dynamic = dynamic
        self._has_cleared_flag = False

    def scale(
        self, outputs: torch.Tensor | Iterable[torch.Tensor]
    ) -> torch.Tensor | Iterable[torch.Tensor]:
        """``outputs`` times the scale; a tensor, or an iterable of tensors of any depth. Unchanged if not enabled."""
        if self._enabled and self._dynamic and overflow.is_saturating():
            if not self._has_cleared_flag:
                overflow.clear_npu_overflow_flag()
            self._has_cleared_flag = True
        return super().scale(outputs)

    def _unscale_grads_(
        self,
        optimizer: torch.optim.Optimizer,
        inv_scale: torch.Tensor,
        found_inf: torch.Tensor,
        allow_fp16: bool,
    ) -> dict[torch.device, torch.Tensor]:
        found = super()._unscale_grads_(optimizer, inv_scale, found_inf, allow_fp16)
        for flag in found.values():
            if not self._dynamic:
                flag.zero_()
            elif overflow.is_saturating() and overflow.get_npu_overflow_flag():
                flag.fill_(1.0)
        return found

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divides the gradients of ``optimizer`` by the scale, in place, for example to clip them before the step.

        Raises:
            RuntimeError: it was called already since the last :meth:`update`, or after :meth:`step`.
            ValueError: a gradient is float16.
        """
        super().unscale_(optimizer)

    def step(
        self, optimizer: torch.optim.Optimizer, *args: object, **kwargs: object
    ) -> float | None:
        """Unscales the gradients, unless that was done, and makes the step, unless one of them overflowed.

        Args:
            optimizer: the optimizer.
            args: for its ``step``.
            kwargs: the same; no ``closure``.

        Returns:
            The result of ``optimizer.step``; None if the step was skipped.
        """
        return super().step(optimizer, *args, **kwargs)

    def update(self, new_scale: float | torch.Tensor | None = None) -> None:
        """Adapts the scale to what the steps since the last call have found.

        Args:
            new_scale: sets the scale instead; a float, or a tensor of one element on npu without gradient.

        Raises:
            TypeError: ``new_scale`` is neither.
            ValueError: the tensor has more elements, or requires a gradient.
        """
        if self._enabled and not self._dynamic and new_scale is None:
            self._check_scale_growth_tracker("update")
            self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)
            return
        if self._enabled and new_scale is not None and not isinstance(new_scale, float):
            new_scale = _checked_scale(new_scale)
        super().update(new_scale)
        self._has_cleared_flag = False

    def state_dict(self) -> dict[str, object]:
        """The state of ``torch.amp.GradScaler``, and ``dynamic``; empty if not enabled."""
        state = super().state_dict()
        if self._enabled:
            state["dynamic"] = self._dynamic
        return state

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Restores :meth:`state_dict`, or the state of a ``torch.amp.GradScaler``.

        Raises:
            RuntimeError: the state is empty: its scaler was not enabled.
        """
        super().load_state_dict(state_dict)
        if self._enabled:
            self._dynamic = bool(state_dict.get("dynamic", True))

    @staticmethod
    def get_npu_overflow_flag() -> bool:
        """:func:`torch.npu.get_npu_overflow_flag`."""
        return overflow.get_npu_overflow_flag()

    @staticmethod
    def clear_npu_overflow_flag() -> None:
        """:func:`torch.npu.clear_npu_overflow_flag`."""
        overflow.clear_npu_overflow_flag()
