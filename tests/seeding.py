"""Seeds of PyTorch's generators, as often as a test needs them."""

import torch


def seed_all(seed: int) -> None:
    """Seeds the CPU's generator and npu's.

    `torch.manual_seed` also keeps a call, with the stack as text, for each other device that may come to be: a
    millisecond each time, and memory that is never given back.
    """
    torch.default_generator.manual_seed(seed)
    if (npu := getattr(torch, "npu", None)) is not None:
        npu.manual_seed_all(seed)
