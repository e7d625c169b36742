"""AdamP over combined parameters."""

import math
from collections.abc import Callable
from typing import Any

import torch

from torch_npu.optim._blocks import Block
from torch_npu.optim.npu_fused_optim_base import NpuFusedOptimizerBase

__all__ = ["NpuFusedAdamP"]


class NpuFusedAdamP(NpuFusedOptimizerBase):
    """AdamP, Heo et al., Slowing Down the Slowdown for Momentum Optimizers on Scale-invariant Weights, ICLR 2021.

    Where the gradient of a parameter with two dimensions or more is nearly orthogonal to it (per channel, else as a
    whole), the step loses its radial part, and weight decay is scaled by ``wd_ratio``.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        betas: what the means of gradients and of their squares keep in a step.
        eps: added to denominators and norms.
        weight_decay: the factor by which a step of rate 1 shrinks parameters.
        delta: how near to orthogonal: the cosine, times the root of the length, below which a step is projected.
        wd_ratio: the part of weight decay that projected parameters get.
        nesterov: Nesterov's momentum.
    """

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        delta: float = 0.1,
        wd_ratio: float = 0.1,
        nesterov: bool = False,
    ) -> None:
        """Takes parameters and options."""
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "delta": delta,
            "wd_ratio": wd_ratio,
            "nesterov": nesterov,
        }
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # noqa: ANN401
        """One step: :meth:`NpuFusedOptimizerBase.step`."""
        return super().step(closure)

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
        beta1, beta2 = group["betas"]
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        squares = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        divisor = squares.sqrt().div_(math.sqrt(1 - beta2**block.step)).add_(group["eps"])
        ahead = mean.lerp(grad, 1 - beta1) if group["nesterov"] else mean
        step = ahead / divisor
        lr, decay = float(group["lr"]), group["weight_decay"]
        parts = (block.parts(param), block.parts(grad), block.parts(step))
        for of_param, of_grad, of_step in zip(*parts, strict=True):
            kept = 1.0
            if of_param.dim() > 1 and _project(of_param, of_grad, of_step, group):
                kept = group["wd_ratio"]
            if decay > 0:
                of_param.mul_(1 - lr * decay * kept)
        param.sub_(step, alpha=lr / (1 - beta1**block.step))


def _project(
    param: torch.Tensor, grad: torch.Tensor, step: torch.Tensor, group: dict[str, Any]
) -> bool:
    """Takes the part along ``param`` from ``step`` if the gradient is orthogonal enough; whether it did."""
    for rows in (param.size(0), 1):
        p, g, s = (tensor.reshape(rows, -1) for tensor in (param, grad, step))
        norms = [torch.linalg.vector_norm(t, dim=1).add_(group["eps"]) for t in (g, p)]
        cosine = (g * p).sum(1).abs() / norms[0] / norms[1]
        if cosine.max() < group["delta"] / math.sqrt(p.size(1)):
            unit = p / norms[1].unsqueeze(1)
            radial = unit * (unit * s).sum(1, keepdim=True)
            step.sub_(radial.reshape(step.shape))
            return True
    return False
