"""A call of an operator by its type, and what the cases are made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from tests.aclnn.types import Host, Operand

N, H = Host.number, Host.of
Result = torch.Tensor | Sequence[torch.Tensor]


@dataclass(frozen=True)
class TypeCase:
    """A call. ``expect`` takes the tensors among the inputs, without those in host memory."""

    name: str
    inputs: Sequence[Operand]
    expect: Callable[..., Result]
    attributes: Mapping[str, object] = field(default_factory=dict)
    computes: bool = True  # False: only the sizes and types are compared


def normal(*sizes: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sizes, generator=generator).to(dtype)


def within(*sizes: int, seed: int = 0) -> torch.Tensor:
    """Values within (0, 1)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(sizes, generator=generator) * 0.9 + 0.05


def whole(high: int, *sizes: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(high, sizes, generator=generator).to(dtype)


X, Y = normal(2, 3, 5), normal(3, 1, seed=1)
U, V = within(2, 3, 5), within(3, 1, seed=1)
IX, IY = whole(7, 2, 3, dtype=torch.int32) + 1, whole(5, 3, dtype=torch.int32) + 1
BX, BY = X > 0, Y > 0
IMAGE, VOLUME = normal(2, 4, 8, 9), normal(2, 4, 5, 6, 7)
