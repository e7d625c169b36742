"""Stochastic gradient descent over combined parameters."""

from typing import Any

import torch
from torch.optim.optimizer import required

from torch_npu.optim._blocks import Block
from torch_npu.optim._checks import check_lr, check_not_negative
from torch_npu.optim.npu_fused_optim_base import NpuFusedOptimizerBase

__all__ = ["NpuFusedSGD"]


class NpuFusedSGD(NpuFusedOptimizerBase):
    """``torch.optim.SGD``: momentum as Sutskever, Martens, Dahl and Hinton (ICML 2013) have it.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        momentum: the factor of the previous step.
        dampening: the part of the gradient that momentum leaves out.
        weight_decay: the factor of the L2 penalty.
        nesterov: Nesterov's momentum; needs momentum and no dampening.

    Raises:
        ValueError: a number is out of its range, or a group has no learning rate.
    """

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = required,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        """Takes parameters and options."""
        check_lr(lr)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        super().__init__(params, defaults)

    def _state_names(self, group: dict[str, Any]) -> dict[str, float]:
        return {"momentum_buffer": 0.0} if group["momentum"] else {}

    def _update(
        self,
        group: dict[str, Any],
        block: Block,
        param: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        # In float32 always: torch 2.13's CPU kernel is wrong for momentum of float16 and bfloat16.
        torch._fused_sgd_(
            [param],
            [grad],
            list(state.values()),
            weight_decay=float(group["weight_decay"]),
            momentum=float(group["momentum"]),
            lr=float(group["lr"]),
            dampening=float(group["dampening"]),
            nesterov=bool(group["nesterov"]),
            maximize=False,
            is_first_step=block.step == 1,
        )
