"""Adam with decoupled weight decay over combined parameters."""

from typing import Any

from torch_npu.optim._adam import FusedAdamBase

__all__ = ["NpuFusedAdamW"]


class NpuFusedAdamW(FusedAdamBase):
    """``torch.optim.AdamW``: decoupled weight decay, Loshchilov and Hutter, ICLR 2019.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        betas: what the means of gradients and of their squares keep in a step.
        eps: added to the denominator.
        weight_decay: the factor by which a step of rate 1 shrinks parameters.
        amsgrad: divides by the largest mean of squares so far.

    Raises:
        ValueError: a number is out of its range.
    """

    _kernel = "_fused_adamw_"

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
    ) -> None:
        """Takes parameters and options."""
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)
