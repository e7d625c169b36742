"""RMSprop over combined parameters."""

from typing import Any

import torch

from torch_npu.optim._blocks import Block
from torch_npu.optim._rmsprop import FusedRMSpropBase

__all__ = ["NpuFusedRMSprop"]


class NpuFusedRMSprop(FusedRMSpropBase):
    """``torch.optim.RMSprop``: Hinton's lecture 6e; centered: Graves, arXiv 1308.0850.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        alpha: what the means keep in a step.
        eps: added to the root of the mean of squares.
        weight_decay: the factor of the L2 penalty.
        momentum: the factor of the previous step.
        centered: divides by the variance's root, not by that of the mean of squares.

    Raises:
        ValueError: a number is out of its range.
    """

    _first_square = 0.0

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
    ) -> None:
        """Takes parameters and options."""
        super().__init__(params, lr, alpha, eps, weight_decay, momentum, centered)

    def _update(
        self,
        group: dict[str, Any],
        block: Block,
        param: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        alpha, lr = group["alpha"], float(group["lr"])
        squares = state["square_avg"]
        if group["weight_decay"]:
            grad = grad.add(param, alpha=group["weight_decay"])
        squares.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        spread = squares
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, 1 - alpha)
            spread = squares.addcmul(mean, mean, value=-1)
        divisor = spread.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, divisor)
            param.sub_(buffer, alpha=lr)
        else:
            param.addcdiv_(grad, divisor, value=-lr)
