"""RMSprop with TensorFlow's order of operations, over combined parameters."""

from typing import Any

import torch

from torch_npu.optim._blocks import Block
from torch_npu.optim._rmsprop import FusedRMSpropBase

__all__ = ["NpuFusedRMSpropTF"]


class NpuFusedRMSpropTF(FusedRMSpropBase):
    """RMSprop as TensorFlow computes it: ``eps`` below the root, means of squares that begin with one.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        alpha: what the means keep in a step.
        eps: added to the mean of squares, below the root.
        weight_decay: the factor of the L2 penalty; with ``decoupled_decay`` what a step takes from a parameter.
        momentum: the factor of the previous step.
        centered: divides by the variance's root, not by that of the mean of squares.
        decoupled_decay: leaves the gradient as it is.
        lr_in_momentum: the momentum accumulates steps that are scaled by the learning rate.

    Raises:
        ValueError: a number is out of its range.
    """

    _first_square = 1.0

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = 1e-2,
        alpha: float = 0.9,
        eps: float = 1e-10,
        weight_decay: float = 0,
        momentum: float = 0.0,
        centered: bool = False,
        decoupled_decay: bool = False,
        lr_in_momentum: bool = True,
    ) -> None:
        """Takes parameters and options."""
        super().__init__(
            params,
            lr,
            alpha,
            eps,
            weight_decay,
            momentum,
            centered,
            decoupled_decay=decoupled_decay,
            lr_in_momentum=lr_in_momentum,
        )

    def _update(
        self,
        group: dict[str, Any],
        block: Block,
        param: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        rest, lr = 1 - group["alpha"], float(group["lr"])
        decay = group["weight_decay"]
        if decay and group.get("decoupled_decay", False):
            param.mul_(1 - decay)
        elif decay:
            grad = grad.add(param, alpha=decay)
        variance = state["square_avg"].lerp_(grad.square(), rest)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, rest)
            variance = variance.addcmul(mean, mean, value=-1)
        divisor = variance.add(group["eps"]).sqrt_()
        if group["momentum"] <= 0:
            param.addcdiv_(grad, divisor, value=-lr)
            return
        inside, outside = (lr, 1.0) if group.get("lr_in_momentum", True) else (1.0, lr)
        buffer = state["momentum_buffer"].mul_(group["momentum"])
        buffer.addcdiv_(grad, divisor, value=inside)
        param.sub_(buffer, alpha=outside)
