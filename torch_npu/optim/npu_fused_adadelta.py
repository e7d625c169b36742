"""Adadelta over combined parameters."""

from typing import Any

import torch

from torch_npu.optim._blocks import Block
from torch_npu.optim._checks import check_lr, check_not_negative
from torch_npu.optim.npu_fused_optim_base import NpuFusedOptimizerBase

__all__ = ["NpuFusedAdadelta"]


class NpuFusedAdadelta(NpuFusedOptimizerBase):
    """``torch.optim.Adadelta``: Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012.

    Args:
        params: parameters, or groups of them.
        lr: the factor of a step.
        rho: what the means of squares keep in a step.
        eps: added below both roots.
        weight_decay: the factor of the L2 penalty.

    Raises:
        ValueError: a number is out of its range.
    """

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
    ) -> None:
        """Takes parameters and options."""
        check_lr(lr)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative("epsilon value", eps)
        check_not_negative("weight_decay value", weight_decay)
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay})

    def _state_names(self, group: dict[str, Any]) -> dict[str, float]:
        return {"square_avg": 0.0, "acc_delta": 0.0}

    def _update(
        self,
        group: dict[str, Any],
        block: Block,
        param: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        rho, eps = group["rho"], group["eps"]
        squares, deltas = state["square_avg"], state["acc_delta"]
        if group["weight_decay"]:
            grad = grad.add(param, alpha=group["weight_decay"])
        squares.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = (deltas + eps).sqrt_().div_((squares + eps).sqrt_()).mul_(grad)
        deltas.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.sub_(delta, alpha=float(group["lr"]))
