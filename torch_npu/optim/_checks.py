"""Checks of optimizers' arguments. Texts are those of ``torch.optim``."""

from numbers import Real

import torch
from torch.optim.optimizer import required


def check_lr(lr: object) -> None:
    """Raises ValueError for a negative learning rate; one that is not given is left to ``torch.optim.Optimizer``."""
    check_not_negative("learning rate", lr)


def check_not_negative(name: str, value: object) -> None:
    """Raises ValueError for a negative number, TypeError for what is no number; tensors are numbers of the device."""
    if value is required or isinstance(value, torch.Tensor):
        return
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not value >= 0:
        raise ValueError(f"Invalid {name}: {value}")


def check_betas(betas: tuple[float, float]) -> None:
    """Raises ValueError unless both are in [0, 1)."""
    for index, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
