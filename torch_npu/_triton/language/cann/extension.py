"""Parts of a block in an interpreted kernel: ``insert_slice``, ``extract_slice``, ``get_element``.

Names and arguments are those of Triton for Ascend (MIT).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from triton.language import core
from triton.runtime.interpreter import TensorHandle


def _number(value: Any) -> int:  # noqa: ANN401 (an int, a constexpr or a scalar of the kernel)
    if isinstance(value, core.tensor):
        return int(np.asarray(value.handle.data).item())
    return int(getattr(value, "value", value))


def _numbers(values: Sequence[Any], block: core.tensor, what: str) -> list[int]:
    numbers = [_number(value) for value in values]
    if len(numbers) != block.handle.data.ndim:
        raise ValueError(
            f"{what} has {len(numbers)} numbers for a block of {block.handle.data.ndim} axes"
        )
    return numbers


def _part(
    block: core.tensor, offsets: Sequence[Any], sizes: Sequence[Any], strides: Sequence[Any]
) -> tuple[slice, ...]:
    numbers = zip(
        _numbers(offsets, block, "offsets"),
        _numbers(sizes, block, "sizes"),
        _numbers(strides, block, "strides"),
        block.handle.data.shape,
        strict=True,
    )
    result = []
    for offset, size, stride, extent in numbers:
        if offset < 0 or size < 1 or stride < 1 or offset + (size - 1) * stride >= extent:
            raise ValueError(
                f"{size} elements from {offset} on, {stride} apart, are not in an axis of {extent}"
            )
        result.append(slice(offset, offset + (size - 1) * stride + 1, stride))
    return tuple(result)


def _block(data: np.ndarray, like: core.tensor) -> core.tensor:
    scalar = like.type.scalar
    kind = core.block_type(scalar, list(data.shape)) if data.ndim else scalar
    return core.tensor(TensorHandle(data, like.handle.dtype), kind)


def extract_slice(
    ful: core.tensor, offsets: Sequence[Any], sizes: Sequence[Any], strides: Sequence[Any]
) -> core.tensor:
    """The elements of a block at ``offsets[i] + n * strides[i]`` for n below ``sizes[i]``, as a block of ``sizes``.

    Raises:
        ValueError: an element is outside of the block, or an argument has another number of axes.
    """
    return _block(ful.handle.data[_part(ful, offsets, sizes, strides)].copy(), ful)


def insert_slice(
    ful: core.tensor,
    sub: core.tensor,
    offsets: Sequence[Any],
    sizes: Sequence[Any],
    strides: Sequence[Any],
) -> core.tensor:
    """A copy of the block ``ful`` whose elements of :func:`extract_slice` are those of ``sub``, which has ``sizes``.

    Raises:
        ValueError: an element is outside of the block, an argument has another number of axes, or ``sub`` has other
            sizes.
    """
    part = _part(ful, offsets, sizes, strides)
    data = ful.handle.data.copy()
    if sub.handle.data.shape != data[part].shape:
        raise ValueError(
            f"sub is of shape {sub.handle.data.shape}, where sizes are {data[part].shape}"
        )
    data[part] = sub.handle.data
    return _block(data, ful)


def get_element(src: core.tensor, indice: Sequence[Any]) -> core.tensor:
    """One element of a block, as a scalar.

    Raises:
        ValueError: it is outside of the block, or the index has another number of axes.
    """
    ones = [1] * len(indice)
    part = _part(src, indice, ones, ones)
    return _block(src.handle.data[part].reshape(()).copy(), src)
