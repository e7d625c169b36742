"""What Adam and AdamW share: options, states and the call of PyTorch's fused kernel."""

from typing import Any, ClassVar

import torch

from torch_npu.optim._blocks import Block
from torch_npu.optim._checks import check_betas, check_lr, check_not_negative
from torch_npu.optim.npu_fused_optim_base import NpuFusedOptimizerBase


class FusedAdamBase(NpuFusedOptimizerBase):
    """Adam with one of PyTorch's fused kernels, which compute in float32 whatever the parameters' dtype is."""

    _kernel: ClassVar[str]

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float,
        amsgrad: bool,
    ) -> None:
        """Takes parameters and options."""
        check_lr(lr)
        check_not_negative("epsilon value", eps)
        check_betas(betas)
        check_not_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes a state; one of an older version has no ``amsgrad``."""
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)

    def _state_names(self, group: dict[str, Any]) -> dict[str, float]:
        maxima = ("max_exp_avg_sq",) if group["amsgrad"] else ()
        return dict.fromkeys(("exp_avg", "exp_avg_sq", *maxima), 0.0)

    def _update_block(self, group: dict[str, Any], block: Block) -> None:
        step = torch.full((), float(block.step), device=block.param.device)
        getattr(torch, self._kernel)(
            [block.param],
            [block.grad],
            [block.state["exp_avg"]],
            [block.state["exp_avg_sq"]],
            [block.state["max_exp_avg_sq"]] if group["amsgrad"] else [],
            [step],
            lr=float(group["lr"]),
            beta1=float(group["betas"][0]),
            beta2=float(group["betas"][1]),
            weight_decay=float(group["weight_decay"]),
            eps=float(group["eps"]),
            amsgrad=bool(group["amsgrad"]),
            maximize=False,
        )
