"""Warnings of this package, which ``TORCH_NPU_WARNING_DISABLE=1`` switches off."""

import warnings

import torch

from torch_npu._core import environment

_shown: set[str] = set()


def _is_silent() -> bool:
    if environment.is_set("TORCH_NPU_WARNING_DISABLE"):
        is_disabled = environment.flag("TORCH_NPU_WARNING_DISABLE")
    else:
        is_disabled = environment.flag("TORCH_NPU_DISABLED_WARNING")
    return is_disabled or environment.text("RANK") != "0"


def warn(text: str, category: type[Warning] = UserWarning, stacklevel: int = 1) -> None:
    """``warnings.warn``, unless the variable forbids it, or this process has a rank other than 0.

    Args:
        text: what happens, and what to do.
        category: of Python's warnings.
        stacklevel: 1 is the caller of this function, 2 the caller's caller.
    """
    if not _is_silent():
        warnings.warn(text, category, stacklevel=stacklevel + 1)


def warn_once(text: str, stacklevel: int = 1) -> None:
    """:func:`warn` at the first call with ``text``; with ``torch.set_warn_always`` at each."""
    if text in _shown and not torch.is_warn_always_enabled():
        return
    _shown.add(text)
    warn(text, stacklevel=stacklevel + 1)
