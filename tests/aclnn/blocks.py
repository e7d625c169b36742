"""Blocked formats by their definition: PyTorch's pad, reshape and permute."""

from collections.abc import Callable

import torch

NC1HWC0, FRACTAL_Z, FRACTAL_NZ, NDC1HWC0, FRACTAL_Z_3D = 3, 4, 29, 32, 33


def filled(x: torch.Tensor, *pairs: tuple[int, int]) -> torch.Tensor:
    """Pads dimension ``dim`` with zeros to a multiple of ``chunk``, for each (dim, piece)."""
    sizes = list(x.shape)
    for dim, chunk in pairs:
        sizes[dim] = -(-sizes[dim] // chunk) * chunk
    out = torch.zeros(sizes, dtype=x.dtype)
    out[tuple(slice(size) for size in x.shape)] = x
    return out


def images(x: torch.Tensor) -> torch.Tensor:
    """NC1HWC0 of [N, C, H, W]."""
    return filled(x, (1, 16)).unflatten(1, (-1, 16)).movedim(2, -1)


def volumes(x: torch.Tensor) -> torch.Tensor:
    """NDC1HWC0 of [N, C, D, H, W]."""
    return images(x).movedim(2, 1)  # [N, C1, D, H, W, C0] -> [N, D, C1, H, W, C0]


def weights(x: torch.Tensor) -> torch.Tensor:
    """FRACTAL_Z of [N, C, H, W]."""
    cut = filled(x, (0, 16), (1, 16)).unflatten(1, (-1, 16)).unflatten(0, (-1, 16))
    return cut.permute(2, 4, 5, 0, 1, 3).flatten(0, 2)  # of [N1, N0, C1, C0, H, W]


def volume_weights(x: torch.Tensor) -> torch.Tensor:
    """FRACTAL_Z_3D of [N, C, D, H, W]."""
    cut = filled(x, (0, 16), (1, 16)).unflatten(1, (-1, 16)).unflatten(0, (-1, 16))
    return cut.permute(4, 2, 5, 6, 0, 1, 3).flatten(0, 3)  # of [N1, N0, C1, C0, D, H, W]


def matrices(block: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """FRACTAL_NZ with this C0, of [.., M, K]."""

    def cut(x: torch.Tensor) -> torch.Tensor:
        blocks = filled(x, (-2, 16), (-1, block)).unflatten(-1, (-1, block))
        return blocks.unflatten(-3, (-1, 16)).movedim(-2, -4)  # of [M1, M0, K1, C0]

    return cut
