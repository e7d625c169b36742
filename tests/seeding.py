"""Seeds of PyTorch's generators, without the cost of torch.manual_seed."""

import torch


def seed_all(seed: int) -> None:
    """Seeds the CPU's generator and npu's.

    `torch.manual_seed` also stores a call, with the stack as text, for every device that may be initialized later: it
    costs a millisecond each time, and memory that is never released.
    """
    torch.default_generator.manual_seed(seed)
    if (npu := getattr(torch, "npu", None)) is not None:
        npu.manual_seed_all(seed)
