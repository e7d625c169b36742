"""Communication between the devices of one process for ``torch.nn.DataParallel``: broadcast, scatter, gather.

A build of torch without CUDA lacks the functions of ``torch._C`` that :mod:`torch.nn.parallel.comm` calls; these have
the same signatures. Copies between devices are ordered by their streams.
"""

from collections.abc import Sequence

import torch


def broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> list[torch.Tensor]:
    """A copy of ``tensor`` on each device; the tensor itself on its own device."""
    return [tensor.to(f"npu:{device}") for device in devices]


def broadcast_out(tensor: torch.Tensor, out: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Copies ``tensor`` into each of ``out``, which have its shape."""
    return [t.copy_(tensor) for t in out]


def broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], buffer_size: int
) -> list[list[torch.Tensor]]:
    """Copies of all ``tensors`` for each device.

    Args:
        tensors: on one device, which is ``devices[0]``.
        devices: indices.
        buffer_size: in bytes; not used: packing small tensors pays only for transfers over a link.
    """
    del buffer_size
    return [[t.to(f"npu:{device}") for t in tensors] for device in devices]


def scatter(
    tensor: torch.Tensor,
    devices: Sequence[int],
    chunk_sizes: Sequence[int] | None,
    dim: int,
    streams: Sequence[object] | None,
) -> list[torch.Tensor]:
    """Pieces of ``tensor`` along ``dim``, one per device: of ``chunk_sizes``, or equal ones.

    Raises:
        RuntimeError: the sizes do not add up to the dimension, or are not one per device.
    """
    del streams  # the copies are ordered by their devices' current streams
    if chunk_sizes is None:
        pieces = tensor.chunk(len(devices), dim)
    else:
        if len(chunk_sizes) != len(devices):
            raise RuntimeError(
                f"Expected devices and chunk_sizes to be of same length, but got len(devices) = {len(devices)} and "
                f"len(chunk_sizes) = {len(chunk_sizes)}"
            )
        pieces = tensor.split(list(chunk_sizes), dim)
    return [part.to(f"npu:{device}") for part, device in zip(pieces, devices, strict=False)]


def scatter_out(
    tensor: torch.Tensor,
    out: Sequence[torch.Tensor],
    dim: int,
    streams: Sequence[object] | None,
) -> list[torch.Tensor]:
    """Copies consecutive pieces of ``tensor`` along ``dim`` into ``out``."""
    del streams
    pieces = tensor.split([t.size(dim) for t in out], dim)
    return [t.copy_(part) for t, part in zip(out, pieces, strict=True)]


def gather(tensors: Sequence[torch.Tensor], dim: int, destination: int | None) -> torch.Tensor:
    """The tensors concatenated along ``dim`` on the device ``destination``; -1 is the CPU, None the current device."""
    device = "cpu" if destination == -1 else "npu" if destination is None else f"npu:{destination}"
    return torch.cat([t.to(device) for t in tensors], dim)


def gather_out(tensors: Sequence[torch.Tensor], out: torch.Tensor, dim: int) -> torch.Tensor:
    """Concatenates the tensors along ``dim`` into ``out``."""
    return out.copy_(torch.cat([t.to(out.device) for t in tensors], dim))
