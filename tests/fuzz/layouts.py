"""Layouts of a tensor in memory that programs make by views; torch has no views with negative strides."""

import random

import torch


def permuted(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """The dimensions in another order in memory."""
    order = list(range(t.dim()))
    choose.shuffle(order)
    back = [order.index(d) for d in range(t.dim())]
    return t.permute(order).clone(memory_format=torch.contiguous_format).permute(back)


def transposed(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """Two dimensions exchanged in memory; one dimension stays as it is."""
    if t.dim() < 2:
        return t
    a, b = choose.sample(range(t.dim()), 2)
    return t.transpose(a, b).contiguous().transpose(a, b)


def channels_last(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """An image or volume with its channels last in memory; another tensor permuted."""
    if t.dim() not in (4, 5):
        return permuted(t, choose)
    return t.contiguous(memory_format=(torch.channels_last, torch.channels_last_3d)[t.dim() - 4])


def sliced(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """Gaps along one dimension, and an offset."""
    d, step = choose.randrange(t.dim()), choose.choice((2, 3))
    sizes = list(t.shape)
    sizes[d] = sizes[d] * step + 1
    widened = t.new_zeros(sizes)
    view = widened.narrow(d, 1, sizes[d] - 1)[(slice(None),) * d + (slice(None, None, step),)]
    return view.copy_(t)


def permuted_and_sliced(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """The dimensions in another order, with gaps along one or two of them."""
    order = list(range(t.dim()))
    choose.shuffle(order)
    back = [order.index(d) for d in range(t.dim())]
    view = sliced(t.permute(order), choose)
    if t.dim() > 1 and choose.random() < 0.5:
        d = choose.randrange(t.dim())
        whole = torch.stack([view, view], d + 1).flatten(d, d + 1)
        view = whole[(slice(None),) * d + (slice(choose.randrange(2), None, 2),)]
    return view.permute(back)


def expanded(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """One or more dimensions repeat their first element."""
    if t.numel() == 0:
        return permuted(t, choose)
    count = choose.choice((1, 1, 2, t.dim()))
    view = t
    for d in choose.sample(range(t.dim()), min(count, t.dim())):
        view = view.narrow(d, 0, 1)
    return view.clone(memory_format=torch.contiguous_format).expand(t.shape)


def overlapping(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """Overlapping rows, as for windows of a signal."""
    if t.numel() == 0:
        return permuted(t, choose)
    strides = [choose.choice((1, 1, 2, 3)) for _ in t.shape]
    last = sum((n - 1) * s for n, s in zip(t.shape, strides, strict=True))
    offset = choose.randrange(3)
    flat = t.contiguous().view(-1)
    repeats = -(-(last + 1 + offset) // flat.numel())
    return flat.repeat(repeats).as_strided(t.shape, strides, offset)


def shifted(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """Dense with a storage offset, at the end of its storage or with elements after it."""
    before, behind = choose.choice((1, 3, 4, 7)), choose.choice((0, 0, 5, 64))
    whole = torch.zeros(t.numel() + before + behind, dtype=t.dtype)
    return whole[before : before + t.numel()].view(t.shape).copy_(t)


def negated(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """The same numbers, stored as their conjugates or negatives."""
    if t.is_complex() and choose.random() < 0.7:
        return t.conj().resolve_conj().conj()
    return torch._neg_view(-t)


_KEEPING = (permuted, transposed, channels_last, sliced, permuted_and_sliced, shifted)
_REPEATING = (expanded, overlapping)


def laid_out(t: torch.Tensor, choose: random.Random, *, may_repeat: bool) -> torch.Tensor:
    """``t`` in a random layout; ``may_repeat`` allows elements that share memory, and conjugate and negative bits."""
    if choose.random() < 0.4:
        return t
    inexact = t.is_floating_point() or t.is_complex()
    if may_repeat and inexact and choose.random() < (0.2 if t.is_complex() else 0.02):
        return negated(t, choose)
    if t.dim() == 0:
        return shifted(t, choose)
    kinds = [*_KEEPING, *(_REPEATING if may_repeat else ())]
    return choose.choice(kinds)(t, choose)
