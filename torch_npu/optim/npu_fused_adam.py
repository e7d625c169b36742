"""Adam over combined parameters."""

from typing import Any

from torch_npu.optim._adam import FusedAdamBase

__all__ = ["NpuFusedAdam"]


class NpuFusedAdam(FusedAdamBase):
    """``torch.optim.Adam``: Kingma and Ba, ICLR 2015; AMSGrad: Reddi, Kale and Kumar, ICLR 2018.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate.
        betas: what the means of gradients and of their squares keep in a step.
        eps: added to the denominator.
        weight_decay: the factor of the L2 penalty.
        amsgrad: divides by the largest mean of squares so far.

    Raises:
        ValueError: a number is out of its range.
    """

    _kernel = "_fused_adam_"

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
    ) -> None:
        """Takes parameters and options."""
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)
