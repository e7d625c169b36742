"""The same elements at other places: order of dimensions, gaps, offsets, repeated elements."""

import random

import torch


def permuted(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """The dimensions in another order in memory."""
    order = list(range(t.dim()))
    choose.shuffle(order)
    back = [order.index(d) for d in range(t.dim())]
    return t.permute(order).contiguous().permute(back)


def sliced(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """Gaps along one dimension, and an offset."""
    d, step = choose.randrange(t.dim()), choose.choice((2, 3))
    sizes = list(t.shape)
    sizes[d] = sizes[d] * step + 1
    wide = torch.zeros(sizes, dtype=t.dtype, device=t.device)
    view = wide.narrow(d, 1, sizes[d] - 1)[(slice(None),) * d + (slice(None, None, step),)]
    return view.copy_(t)


def expanded(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """One dimension repeats its first element."""
    d = choose.randrange(t.dim())
    return t.narrow(d, 0, 1).clone().expand(t.shape) if t.shape[d] else t


def shifted(t: torch.Tensor, _: random.Random) -> torch.Tensor:
    """Dense, behind an odd number of elements."""
    return torch.zeros(t.numel() + 3, dtype=t.dtype, device=t.device)[3:].view(t.shape).copy_(t)


def laid_out(t: torch.Tensor, choose: random.Random, *, may_repeat: bool) -> torch.Tensor:
    """``t`` in a layout that is drawn; ``may_repeat`` allows elements that share memory."""
    if t.dim() == 0 or t.numel() == 0 or choose.random() < 0.4:
        return t
    kinds = [permuted, sliced, shifted] + ([expanded] if may_repeat else [])
    return choose.choice(kinds)(t, choose)
