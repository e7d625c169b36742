"""Looks for silent faults of the hardware: gradients whose norm jumps while a model is trained."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from torch_npu._core import environment

_log = logging.getLogger("torch_npu.silent_check")
# Gradients that are seen before one is judged.
_FIRST = 7


_UPPER, _SIGMA = (1_000_000, 10_000), (100_000, 5_000)


def _thresholds(numbers: tuple[int, int], default: tuple[int, int]) -> tuple[int, int]:
    """The larger and the smaller threshold, at least 3; the default if the first is not the larger one."""
    high, low = (max(number, 3) for number in numbers)
    return (high, low) if high > low else default


@dataclass
class _Norms:
    """The gradients' norms of one weight: the last, the smallest, the largest, and how many there were."""

    last: float = 0.0
    least: float = float("inf")
    most: float = 0.0
    count: int = 0
    upper: tuple[int, int] = field(
        default_factory=lambda: _thresholds(environment.pair("NPU_ASD_UPPER_THRESH"), _UPPER)
    )
    sigma: tuple[int, int] = field(
        default_factory=lambda: _thresholds(environment.pair("NPU_ASD_SIGMA_THRESH"), _SIGMA)
    )

    def jumps(self, norm: float, level: int) -> bool:
        """Whether ``norm`` is above both thresholds: of the largest before, and of how much norms changed before."""
        change = max(self.most - self.least, 1e-30)
        return (
            norm > self.upper[level] * self.most and norm - self.last > self.sigma[level] * change
        )

    def take(self, norm: float) -> None:
        self.last, self.count = norm, self.count + 1
        self.least, self.most = min(self.least, norm), max(self.most, norm)


class _Detector:
    def __init__(self) -> None:
        self.loss_scale: float | None = None
        self.norms: dict[int, _Norms] = {}

    def hook(self, weight: torch.Tensor) -> Callable[[torch.Tensor], None]:
        norms = self.norms.setdefault(id(weight), _Norms())

        def check(grad: torch.Tensor) -> None:
            if grad.dtype is torch.float16 and self.loss_scale is None:
                return
            norm = float(torch.linalg.vector_norm(grad.float()))
            if grad.dtype is torch.float16:
                norm /= float(self.loss_scale or 1.0)
            if norms.count >= _FIRST and norms.jumps(norm, 0):
                raise RuntimeError(
                    f"the norm of a gradient of shape {tuple(grad.shape)} jumped from {norms.last:g} to {norm:g}: "
                    "a silent fault, unless training itself diverges"
                )
            if norms.count >= _FIRST and norms.jumps(norm, 1):
                _log.warning("the norm of a gradient jumped from %g to %g", norms.last, norm)
            norms.take(norm)

        return check


_detector = _Detector()


def set_asd_loss_scale(loss_scale: float = 1.0) -> None:
    """Says what the loss is multiplied by; gradients of float16 are judged only then.

    Raises:
        ValueError: ``loss_scale`` is zero.
    """
    if loss_scale == 0:
        raise ValueError("loss scale cannot be 0.")
    _detector.loss_scale = float(loss_scale)


def register_asd_hook(x: torch.Tensor | None, weight: torch.Tensor) -> None:
    """Checks the gradient of ``x`` in each backward pass, together with earlier ones of the same ``weight``.

    After seven of them, one whose norm is ``NPU_ASD_UPPER_THRESH`` times the largest and has changed
    ``NPU_ASD_SIGMA_THRESH`` times as much as all before is refused: the backward pass raises RuntimeError. The second
    number of each variable is the threshold of a warning in the log ``torch_npu.silent_check``. A tensor that needs
    no gradient, or has a hook, is left as it is.
    """
    if x is not None and x.requires_grad and not x._backward_hooks:
        x.register_hook(_detector.hook(weight))


__all__ = ["register_asd_hook", "set_asd_loss_scale"]
