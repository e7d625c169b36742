"""Obfuscation of models, which needs the trusted hardware of Ascend servers."""

from typing import NoReturn

import torch


def _unavailable(name: str) -> NoReturn:
    raise RuntimeError(
        f"torch.npu.{name} talks to the trusted application of an Ascend server; a software NPU has none"
    )


def obfuscation_initialize(
    hidden_size: int,
    tp_rank: int,
    cmd: int,
    *,
    data_type: torch.dtype | None = None,
    model_obf_seed_id: int = 0,
    data_obf_seed_id: int = 0,
    thread_num: int = 4,
    obf_coefficient: float = 1.0,
) -> torch.Tensor:
    """Opens a session of the trusted application; arguments are the official plug-in's.

    Raises:
        RuntimeError: always: it is part of Ascend servers.
    """
    _unavailable("obfuscation_initialize")


def obfuscation_finalize(fd_to_close: torch.Tensor) -> torch.Tensor:
    """Closes a session of :func:`obfuscation_initialize`.

    Raises:
        RuntimeError: always: there can be none.
    """
    _unavailable("obfuscation_finalize")


def obfuscation_calculate(
    fd: torch.Tensor, x: torch.Tensor, param: torch.Tensor, *, obf_coefficient: float = 1.0
) -> torch.Tensor:
    """Obfuscates ``x`` in a session of :func:`obfuscation_initialize`.

    Raises:
        RuntimeError: always: there can be none.
    """
    _unavailable("obfuscation_calculate")
