"""What both forms of RMSprop share: options, and which states a group has."""

from typing import Any, ClassVar

from torch_npu.optim._checks import check_lr, check_not_negative
from torch_npu.optim.npu_fused_optim_base import NpuFusedOptimizerBase


class FusedRMSpropBase(NpuFusedOptimizerBase):
    """RMSprop without its update."""

    _first_square: ClassVar[float]  # what the mean of squares begins with

    def __init__(
        self,
        params: Any,  # noqa: ANN401
        lr: float,
        alpha: float,
        eps: float,
        weight_decay: float,
        momentum: float,
        centered: bool,
        **more: bool,
    ) -> None:
        """Takes parameters and options; ``more`` are those of one form."""
        check_lr(lr)
        check_not_negative("epsilon value", eps)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("alpha value", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            **more,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes a state; one of an older version has neither momentum nor ``centered``."""
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("momentum", 0)
            group.setdefault("centered", False)

    def _state_names(self, group: dict[str, Any]) -> dict[str, float]:
        names = {"square_avg": self._first_square}
        if group["momentum"] > 0:
            names["momentum_buffer"] = 0.0
        if group["centered"]:
            names["grad_avg"] = 0.0
        return names
