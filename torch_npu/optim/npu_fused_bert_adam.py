"""BertAdam over combined parameters."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import required

from torch_npu.optim._blocks import Block
from torch_npu.optim._checks import check_lr, check_not_negative
from torch_npu.optim.npu_fused_optim_base import NpuFusedOptimizerBase

__all__ = ["NpuFusedBertAdam"]


def _after(rate: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """A schedule that rises linearly up to ``warmup`` and then is ``rate(progress, warmup)``."""

    def schedule(progress: float, warmup: float) -> float:
        return progress / warmup if progress < warmup else rate(progress, warmup)

    return schedule


# The factor of the learning rate, by progress and the part of it that is the warmup, both from 0 to 1.
SCHEDULES: dict[str, Callable[[float, float], float]] = {
    "warmup_constant": _after(lambda progress, warmup: 1.0),
    "warmup_cosine": _after(lambda progress, warmup: 0.5 * (1 + math.cos(math.pi * progress))),
    "warmup_linear": _after(lambda progress, warmup: max((progress - 1) / (warmup - 1), 0.0)),
    "warmup_poly": _after(lambda progress, warmup: (1 - progress) ** 0.5),
}


class NpuFusedBertAdam(NpuFusedOptimizerBase):
    """The Adam of BERT's training: decoupled weight decay, a schedule, no correction of the means' bias.

    Gradients of a group and dtype are clipped by their common norm.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        warmup: the part of ``t_total`` in which the rate rises; -1: none.
        t_total: the number of steps of the schedule; -1: the rate is constant.
        schedule: a key of ``SCHEDULES``.
        b1: what the mean of gradients keeps in a step.
        b2: what the mean of their squares keeps.
        e: added to the denominator.
        weight_decay: the part of the parameter that is added to its step.
        max_grad_norm: the norm to which gradients are clipped; not positive: they are not.

    Raises:
        ValueError: a number is out of its range, the schedule is unknown, or a group has no learning rate.
    """

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = required,
        warmup: float = -1,
        t_total: int = -1,
        schedule: str = "warmup_linear",
        b1: float = 0.9,
        b2: float = 0.999,
        e: float = 1e-6,
        weight_decay: float = 0.01,
        max_grad_norm: float = 1.0,
    ) -> None:
        """Takes parameters and options."""
        check_lr(lr)
        if warmup != -1 and not 0 <= warmup < 1:
            raise ValueError(f"Invalid warmup: {warmup}")
        if schedule not in SCHEDULES:
            raise ValueError(f"Invalid schedule parameter: {schedule}")
        for name, value in (("b1", b1), ("b2", b2)):
            if not 0 <= value < 1:
                raise ValueError(f"Invalid {name} parameter: {value}")
        check_not_negative("epsilon value", e)
        defaults = {
            "lr": lr,
            "schedule": schedule,
            "warmup": warmup,
            "t_total": t_total,
            "b1": b1,
            "b2": b2,
            "e": e,
            "weight_decay": weight_decay,
            "max_grad_norm": max_grad_norm,
        }
        super().__init__(params, defaults)

    def _state_names(self, group: dict[str, Any]) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def _update(
        self,
        group: dict[str, Any],
        block: Block,
        param: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        b1, b2 = group["b1"], group["b2"]
        if group["max_grad_norm"] > 0:
            norm = torch.linalg.vector_norm(grad)
            grad = grad * (group["max_grad_norm"] / (norm + 1e-6)).clamp(max=1)
        mean = state["exp_avg"].lerp_(grad, 1 - b1)
        squares = state["exp_avg_sq"].mul_(b2).addcmul_(grad, grad, value=1 - b2)
        step = mean / squares.sqrt().add_(group["e"])
        if group["weight_decay"] > 0:
            step.add_(param, alpha=group["weight_decay"])
        lr = float(group["lr"])
        if group["t_total"] != -1:
            progress = (block.step - 1) / group["t_total"]
            lr *= SCHEDULES[group["schedule"]](progress, group["warmup"])
        param.sub_(step, alpha=lr)
