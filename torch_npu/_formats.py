"""Formats of tensors: the layout of their bytes. Names and values: torch_npu 2.13.0.

Blocked formats (``NC1HWC0``, ``FRACTAL_Z``, ``FRACTAL_NZ``, ``NDC1HWC0``, ``FRACTAL_Z_3D``) are private to the
device; ``torch.npu.config.allow_internal_format`` must be true to use them. A tensor's values and shape do not
change, it is contiguous, and any operator accepts it. An operator without support for blocks makes the bytes plain
first; the tensor keeps its format, and :func:`npu_format_cast` converts it to blocks again. The format belongs to the
storage: all views have it.
"""

from enum import IntEnum

import torch
from torch import Tensor

from torch_npu._core import devices


class Format(IntEnum):
    """The values are aclFormat's."""

    UNDEFINED = -1
    NCHW = 0
    NHWC = 1
    ND = 2
    NC1HWC0 = 3
    FRACTAL_Z = 4
    NC1HWC0_C04 = 12
    HWCN = 16
    NDHWC = 27
    FRACTAL_NZ = 29
    NCDHW = 30
    NDC1HWC0 = 32
    FRACTAL_Z_3D = 33
    NC = 35
    NCL = 47
    FRACTAL_NZ_C0_16 = 50
    FRACTAL_NZ_C0_32 = 51
    FRACTAL_NZ_C0_2 = 52
    FRACTAL_NZ_C0_4 = 53
    FRACTAL_NZ_C0_8 = 54

    def __str__(self) -> str:
        return self.name


def get_npu_format(input: Tensor) -> Format:
    """The format of the storage of ``input``, of any shape and dtype.

    Without a cast it is NCHW for four dimensions, NCDHW for five, ND for others.

    Raises:
        NotImplementedError: ``input`` is not an npu tensor.
    """
    return Format(torch.ops.npu.get_npu_format(input))


def get_storage_size(input: Tensor) -> int:
    """The number of elements in the storage of ``input``, including the padding of blocks."""
    return int(torch.ops.npu.get_storage_size(input))


def npu_format_cast(
    input: Tensor,
    acl_format: int | Tensor,
    *,
    customize_dtype: int | None = None,
    input_dtype: int | None = None,
) -> Tensor:
    """``input`` in another format: the same values, shape and dtype. Its gradient is that of a copy.

    Args:
        input: an npu tensor of any shape; blocked formats need four dimensions (``NC1HWC0``, ``FRACTAL_Z``), five
            (``NDC1HWC0``, ``FRACTAL_Z_3D``) or at least two (``FRACTAL_NZ``). Fewer than four mean C, CH, CHW.
        acl_format: a :class:`Format`, or a tensor whose format is used.
        customize_dtype: the dtype of the blocks of ``FRACTAL_NZ``, 32 bytes per row, in torch_npu's numbers
            (``256`` and the aclDataType).
        input_dtype: not used; official torch_npu's.

    Returns:
        ``input`` itself if it has the format, or if both formats only name the dimensions. If its bytes had
        become plain they are written: no other thread may read the tensor meanwhile.

    Raises:
        RuntimeError: there is no such format, or it does not match the shape.

    Warns:
        Blocked formats are not allowed: the result is a copy in a base format.
    """
    return torch.ops.npu.npu_format_cast(
        input, acl_format, customize_dtype=customize_dtype, input_dtype=input_dtype
    )


def npu_format_cast_(
    input: Tensor,
    acl_format: int | Tensor,
    *,
    customize_dtype: int | None = None,
    input_dtype: int | None = None,
) -> Tensor:
    """:func:`npu_format_cast` in place. With a tensor, copies its values to ``input``, which keeps its format."""
    return torch.ops.npu.npu_format_cast_(
        input, acl_format, customize_dtype=customize_dtype, input_dtype=input_dtype
    )


def empty_with_format(
    size: tuple[int, ...],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | str | int | None = None,
    pin_memory: bool | None = None,
    acl_format: int = Format.ND,
    base_addr_aligned_kb: int | None = None,
) -> Tensor:
    """An uninitialised npu tensor of shape ``size`` in a format of :func:`npu_format_cast`, ``acl_format``.

    ``device`` is an npu, the current one by default; ``base_addr_aligned_kb`` is official torch_npu's and not used.
    """
    return torch.ops.npu.empty_with_format(
        size,
        dtype=dtype,
        layout=layout,
        device=_device(device),
        pin_memory=pin_memory,
        acl_format=acl_format,
        base_addr_aligned_kb=base_addr_aligned_kb,
    )


def unsafe_empty_with_format(
    size: tuple[int, ...],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | str | int | None = None,
    pin_memory: bool | None = None,
    acl_format: int = Format.ND,
    keep_format: bool = False,
) -> Tensor:
    """:func:`empty_with_format`; ``keep_format`` is official torch_npu's and not used."""
    return torch.ops.npu.unsafe_empty_with_format(
        size,
        dtype=dtype,
        layout=layout,
        device=_device(device),
        pin_memory=pin_memory,
        acl_format=acl_format,
        keep_format=keep_format,
    )


def _device(device: torch.device | str | int | None) -> torch.device:
    return torch.device("npu", devices.device_index(device))
