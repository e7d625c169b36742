"""LAMB over combined parameters."""

from collections.abc import Callable
from typing import Any

import torch

from torch_npu.optim._blocks import Block
from torch_npu.optim._checks import check_betas, check_lr, check_not_negative
from torch_npu.optim.npu_fused_optim_base import NpuFusedOptimizerBase

__all__ = ["NpuFusedLamb"]

# The largest norm of a parameter that counts in its trust ratio.
MAX_WEIGHT_NORM = 10.0


class NpuFusedLamb(NpuFusedOptimizerBase):
    """LAMB, You et al., Large Batch Optimization for Deep Learning, ICLR 2020, without correction of the means' bias.

    A parameter's step is scaled by its trust ratio: the norm of the parameter, at most 10, through that of its Adam
    step; 1 where one of them is zero.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        betas: what the means of gradients and of their squares keep in a step.
        eps: added to the denominator.
        weight_decay: the part of the parameter that is added to its Adam step.
        adam: every trust ratio is 1.
        use_global_grad_norm: divides all gradients by their common norm if it is above 1.

    Raises:
        ValueError: a number is out of its range.
    """

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0,
        adam: bool = False,
        use_global_grad_norm: bool = False,
    ) -> None:
        """Takes parameters and options."""
        check_lr(lr)
        check_betas(betas)
        check_not_negative("epsilon value", eps)
        self.adam = adam
        self.use_global_grad_norm = use_global_grad_norm
        self._divisor: torch.Tensor | None = None
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # noqa: ANN401
        """One step: :meth:`NpuFusedOptimizerBase.step`."""
        return super().step(closure)

    def _state_names(self, group: dict[str, Any]) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def _before_groups(self) -> None:
        self._divisor = None
        if self.use_global_grad_norm:
            grads = [block.grad.float() for blocks in self._blocks for block in blocks]
            norms = torch.stack([torch.linalg.vector_norm(grad) for grad in grads])
            self._divisor = torch.linalg.vector_norm(norms).clamp(min=1)

    def _update(
        self,
        group: dict[str, Any],
        block: Block,
        param: torch.Tensor,
        grad: torch.Tensor,
        state: dict[str, torch.Tensor],
    ) -> None:
        beta1, beta2 = group["betas"]
        if self._divisor is not None:
            grad = grad / self._divisor
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        squares = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step = mean / squares.sqrt().add_(group["eps"])
        if group["weight_decay"]:
            step.add_(param, alpha=group["weight_decay"])
        lr = float(group["lr"])
        if self.adam:
            param.sub_(step, alpha=lr)
            return
        weights = _norms(block, param).clamp(max=MAX_WEIGHT_NORM)
        steps = _norms(block, step)
        ratios = torch.where((weights == 0) | (steps == 0), 1.0, weights / steps)
        for index, (of_param, of_step) in enumerate(
            zip(block.parts(param), block.parts(step), strict=True)
        ):
            of_param.addcmul_(of_step, ratios[index], value=-lr)


def _norms(block: Block, flat: torch.Tensor) -> torch.Tensor:
    return torch.stack(torch._foreach_norm(block.parts(flat)))
