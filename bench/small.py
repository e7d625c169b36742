"""Small work: what it costs, the operator itself takes the least of."""

from collections.abc import Callable

import torch


def small_works(device: str) -> dict[str, Callable[[], object]]:
    """Operators on 16 elements of ``device``, and a backward pass of three of them."""
    x, m = torch.ones(16, device=device), torch.ones(16, 16, device=device)
    a, b = (torch.ones(16, device=device, requires_grad=True) for _ in range(2))
    return {
        "add, 16 elements": lambda: x + x,
        "add_, 16 elements": lambda: x.add_(1),
        "sum, 16 elements": lambda: x.sum(),
        "view": lambda: x.view(4, 4),
        "empty_like": lambda: torch.empty_like(x),
        "mm, 16 x 16": lambda: torch.mm(m, m),
        "(a * b).sum().backward()": lambda: (a * b).sum().backward(),
    }
