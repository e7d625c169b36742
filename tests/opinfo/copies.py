"""Copies of tensors that keep the memory positions of their elements."""

import torch


def copy_to(t: torch.Tensor, device: str | torch.device) -> torch.Tensor:
    """A copy on ``device`` with the same strides and bits over a copy of the same storage."""
    if t.layout != torch.strided:
        return t.detach().clone().to(device)
    if t.is_conj():
        return copy_to(t.conj(), device).conj()
    if t.is_neg():
        return torch._neg_view(copy_to(torch._neg_view(t), device))
    whole = torch.empty(0, dtype=t.dtype, device=t.device).set_(t.untyped_storage())
    return whole.clone().to(device).as_strided(t.size(), t.stride(), t.storage_offset())
