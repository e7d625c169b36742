"""What stands between a decoder's products, compared with inductor, which makes one kernel of each."""

from collections.abc import Callable

import torch
from interleave import Row
from ops import TOKENS, WIDTH, language


def _compiled(work: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    torch._dynamo.reset()
    return torch.compile(work)


def rows() -> list[Row]:
    """Forward, and forward with backward, at 1 x TOKENS x WIDTH."""
    measured = []
    for eager, compiled in zip(language(), language(_compiled), strict=True):
        measured.append(
            Row(f"{eager.name}, 1 x {TOKENS} x {WIDTH}", eager.npu, compiled.cpu, 3, "inductor")
        )
    return measured
