"""Calls of every operator with an aclnn entry, grown to any number of elements.

Each starts from a call that PyTorch's own cases make (tests/fuzz/recorded.py), so that an operator added to the YAML is
measured without a line of its own.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from fuzz.recorded import Call, overload
from torch.utils._pytree import tree_leaves, tree_map

# Operators whose windows, filters or classes must not grow with the image: their batch grows.
_WINDOWED = (
    "nll_loss",
    "group_norm",
    "conv",
    "pool",
    "upsample",
    "im2col",
    "col2im",
    "grid_sampler",
    "unfold",
    "pad",
)


@dataclass(frozen=True)
class Grown:
    """One call on the CPU, and its name."""

    name: str
    args: tuple
    kwargs: dict

    def on(self, device: str) -> Callable[[], object]:
        """The call with copies of its tensors on ``device``."""
        args, kwargs = tree_map(
            lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, (self.args, self.kwargs)
        )
        return partial(overload(self.name), *args, **kwargs)


def _is_windowed(name: str) -> bool:
    return any(word in name for word in _WINDOWED)


def _tensors(call: Call) -> list[torch.Tensor]:
    return [x for x in tree_leaves(call[1:]) if isinstance(x, torch.Tensor)]


def elements(call: Call) -> int:
    """The number of elements of its largest tensor."""
    return max((t.numel() for t in _tensors(call)), default=0)


def _enlarged(t: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """``t`` repeated to that shape; floating-point numbers differ a little from repeat to repeat."""
    if shape == tuple(t.shape):
        return t
    if t.numel() == 0:
        return t.new_zeros(shape)
    counts = [math.ceil(new / old) for new, old in zip(shape, t.shape, strict=True)]
    t = t.repeat(counts)[tuple(slice(size) for size in shape)].contiguous()
    if t.is_floating_point():
        t = t * torch.empty_like(t).uniform_(0.9, 1)
    return t


def _places(t: torch.Tensor, old: int, new: int) -> torch.Tensor:
    """Indices or classes below ``old``, drawn anew below ``new``."""
    if t.is_floating_point() or t.dtype == torch.bool or t.numel() == 0 or int(t.min()) < 0:
        return t
    return torch.randint_like(t, max(1, new)) if int(t.max()) < old else t


def _mapped(
    call: Call, sizes: dict[int, int], in_dim: Callable[[int], bool], most: float
) -> Call | None:
    """The call with each size of ``sizes`` replaced in its tensors and lists of sizes; None if one exceeds ``most``."""
    name, args, kwargs = call

    def shape_of(t: torch.Tensor) -> tuple[int, ...]:
        return tuple(sizes.get(s, s) if in_dim(i) else s for i, s in enumerate(t.shape))

    if any(math.prod(shape_of(t)) > most for t in _tensors(call)):
        return None
    shapes = {tuple(t.shape) for t in _tensors(call)}

    def grow(x: object) -> object:
        if isinstance(x, torch.Tensor):
            return _enlarged(x, shape_of(x))
        if isinstance(x, list | tuple) and tuple(x) in shapes:
            return [sizes.get(s, s) if in_dim(i) else s for i, s in enumerate(x)]
        return x

    declared = overload(name)._schema.arguments
    names = [a.name for a in declared]
    largest = max(sizes, default=1)

    def argument(key: str, value: object) -> object:
        if isinstance(value, list | tuple) and any(isinstance(v, torch.Tensor) for v in value):
            return [argument(key, v) for v in value]
        if key == "N" and isinstance(value, int):
            return sizes.get(value, value) if in_dim(0) else value
        if key == "input_size" and isinstance(value, list | tuple):
            return [sizes.get(s, s) if in_dim(i) else s for i, s in enumerate(value)]
        value = grow(value)
        if isinstance(value, torch.Tensor) and key in {"index", "indices", "target", "self"}:
            is_index = not _is_windowed(name) and (key != "self" or "embedding" in name)
            return _places(value, largest, sizes.get(largest, largest)) if is_index else value
        return value

    grown = tuple(argument(key, value) for key, value in zip(names, args, strict=False))
    return name, grown, {key: argument(key, value) for key, value in kwargs.items()}


def _ways(call: Call, count: int) -> Iterator[Call]:
    """The call with about ``count`` elements in several ways: all dimensions grow, the first one, the largest one."""
    factor = count / elements(call)
    shape = max((tuple(t.shape) for t in _tensors(call)), key=math.prod, default=())
    dims = [s for s in shape if s > 1]
    if not dims:
        return
    each = factor ** (1 / len(dims))
    all_dims = {s: max(1, round(s * each)) for s in set(dims)}
    first, largest = ({s: max(1, round(s * factor))} for s in (shape[0], max(dims)))
    ways: list[tuple[dict[int, int], Callable[[int], bool]]] = [(first, lambda dim: dim == 0)]
    if not _is_windowed(call[0]):
        ways = [
            (all_dims, lambda _: True),
            *ways,
            (first, lambda _: True),
            (largest, lambda _: True),
        ]
    for sizes, in_dim in ways:
        grown = _mapped(call, sizes, in_dim, 3 * count)
        if grown is not None and elements(grown) >= 0.3 * count:
            yield grown


def _is_functional(call: Call) -> bool:
    return all(a.alias_info is None for a in overload(call[0])._schema.arguments)


def _runs(call: Call) -> bool:
    name, args, kwargs = call
    try:
        overload(name)(*args, **kwargs)
    except Exception:  # a way of growing that the operator refuses
        return False
    return True


def grown(calls: list[Call], count: int) -> Grown | None:
    """One of an operator's recorded calls with about ``count`` elements; None if none of them can be grown.

    Calls that write no argument come first: repeated, they do not change their numbers; then those of float32, then
    the largest.
    """

    def rank(call: Call) -> tuple:
        tensors = _tensors(call)
        is_float = bool(tensors) and tensors[0].dtype == torch.float32
        return (not _is_functional(call), not is_float, -elements(call))

    for call in sorted((c for c in calls if elements(c) > 1), key=rank)[:8]:
        for way in _ways(call, count):
            if _runs(way):
                return Grown(*way)
    return None
