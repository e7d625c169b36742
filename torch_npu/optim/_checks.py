"""Checks of optimizers' arguments. Texts are those of ``torch.optim``."""


def check_lr(lr: object) -> None:
    """Raises ValueError for a negative learning rate; one that is not given is left to ``torch.optim.Optimizer``."""
    check_not_negative("learning rate", lr)


def check_not_negative(name: str, value: object) -> None:
    """Raises ValueError for a negative number."""
    if isinstance(value, int | float) and not value >= 0:
        raise ValueError(f"Invalid {name}: {value}")


def check_betas(betas: tuple[float, float]) -> None:
    """Raises ValueError unless both are in [0, 1)."""
    for index, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
