"""The tensors of a call in other layouts, with the same elements."""

import random
import zlib

import torch
from fuzz import layouts
from fuzz.draw import Drawn
from torch.utils._pytree import tree_map


def _with_gaps(t: torch.Tensor, choose: random.Random) -> torch.Tensor:
    """Gaps behind each element, or the dimensions in another order; never what contiguous memory has."""
    if t.dim() == 0 or t.numel() < 2 or t.layout != torch.strided or t.is_quantized:
        return t
    result = choose.choice((layouts.sliced, layouts.permuted_and_sliced))(t, choose)
    return result if not result.is_contiguous() else layouts.sliced(t, choose)


def laid_out(call: Drawn) -> Drawn:
    """The same call with each tensor of two elements and more in a layout of its own."""
    choose = random.Random(zlib.crc32(str(call.name).encode()))

    def one(x: object) -> object:
        return _with_gaps(x, choose) if isinstance(x, torch.Tensor) else x

    args, kwargs = tree_map(one, (call.args, call.kwargs))
    return Drawn(call.name, args, kwargs)
