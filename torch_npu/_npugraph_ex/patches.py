"""An input that the graph changes in parts: what it was, and the parts that are written, which are not merged.

Reads of a written part read what was written; the program's tensor gets the parts in place at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import aten

Box = tuple[tuple[int, int], ...]  # [first, last) of each dimension of the input


def _cut(a: Box, b: Box) -> Box | None:
    """What two boxes have in common; None: nothing."""
    both = tuple((max(i, k), min(j, m)) for (i, j), (k, m) in zip(a, b, strict=True))
    return both if all(first < last for first, last in both) else None


def _sizes(box: Box) -> list[int]:
    return [last - first for first, last in box]


@dataclass(frozen=True)
class Patched:
    """A window of a changed input.

    Args:
        base: the input before.
        patches: boxes of the input and their new contents, of the boxes' sizes, in the order of the writes.
        box: the window.
        kept: the dimensions of the input that the window has.
    """

    base: Ref
    patches: tuple[tuple[Box, Ref], ...]
    box: Box
    kept: tuple[int, ...]

    @staticmethod
    def whole(base: Ref) -> "Patched":
        """All of an input, not changed yet."""
        return Patched(base, (), tuple((0, size) for size in base.shape), tuple(range(base.rank)))

    @property
    def dtype(self) -> torch.dtype:
        """The data type."""
        return self.base.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The window's sizes."""
        return tuple(self.box[dim][1] - self.box[dim][0] for dim in self.kept)

    @property
    def is_whole(self) -> bool:
        """Whether the window is the input."""
        return len(self.kept) == self.base.rank and self.shape == self.base.shape

    def _narrowed(self, dim: int, first: int, last: int) -> "Patched":
        own = self.kept[dim]
        start = self.box[own][0]
        box = list(self.box)
        box[own] = (start + first, start + max(first, last))
        return replace(self, box=tuple(box))

    def select(self, dim: int, index: int) -> "Patched":
        """As ``torch.select``."""
        dim %= len(self.kept)
        index %= self.shape[dim]
        narrowed = self._narrowed(dim, index, index + 1)
        return replace(narrowed, kept=self.kept[:dim] + self.kept[dim + 1 :])

    def slice(
        self, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
    ) -> "Patched | None":
        """As ``x[start:end]`` along ``dim``; None for steps."""
        dim %= len(self.kept)
        first, last, _ = slice(start, end).indices(self.shape[dim])
        return self._narrowed(dim, first, last) if step == 1 else None

    def written(self, b: GraphBuilder, window: "Patched", source: "Ref | Patched") -> "Patched":
        """This with ``source`` in a window of it."""
        if isinstance(source, Patched):
            if source.base == self.base and source.box == window.box:
                return replace(self, patches=source.patches)
            source = source.read(b)
        patch = b.view(b.cast(source, self.dtype), _sizes(window.box))
        return replace(self, patches=(*self.patches, (window.box, patch)))

    def read(self, b: GraphBuilder) -> Ref:
        """The window's elements as one value."""
        result, patches = None, []
        for box, patch in reversed(self.patches):
            common = _cut(box, self.box)
            if common == self.box:
                result = _part(b, patch, box, self.box)
                break
            if common is not None:
                patches.append((common, _part(b, patch, box, common)))
        if result is None:
            result = _part(b, self.base, Patched.whole(self.base).box, self.box)
        for box, patch in reversed(patches):
            inner = [(i - k, j - k) for (i, j), (k, _) in zip(box, self.box, strict=True)]
            result = _put(b, result, patch, inner, 0)
        return b.view(result, self.shape)


def _part(b: GraphBuilder, x: Ref, box: Box, wanted: Box) -> Ref:
    """The elements ``wanted`` of ``x``, which has those of ``box``."""
    for dim, ((start, _), (first, last)) in enumerate(zip(box, wanted, strict=True)):
        x = b.slice(x, dim, first - start, last - start)
    return x


def _put(b: GraphBuilder, x: Ref, patch: Ref, box: Sequence[tuple[int, int]], dim: int) -> Ref:
    """``x`` with ``patch`` in a box of it."""
    if dim == x.rank:
        return patch
    first, last = box[dim]
    inner = _put(b, b.slice(x, dim, first, last), patch, box, dim + 1)
    parts = (b.slice(x, dim, 0, first), inner, b.slice(x, dim, last, x.shape[dim]))
    return b.concatenate(parts, dim)


def lower(b: GraphBuilder, target: object, args: Sequence[Any]) -> object:
    """The result of an operator on a window; None: it needs the elements."""
    x = args[0]
    if not isinstance(x, Patched):
        return None
    if target is aten.select.int:
        return x.select(*args[1:])
    if target is aten.slice.Tensor:
        return x.slice(*args[1:])
    if target is aten.select_scatter.default:
        return x.written(b, x.select(*args[2:]), args[1])
    if target is aten.slice_scatter.default:
        window = x.slice(*args[2:])
        return None if window is None else x.written(b, window, args[1])
    if target is aten.copy.default and not isinstance(args[1], Patched):
        return b.broadcast(b.cast(args[1], x.dtype), x.shape)
    return None
