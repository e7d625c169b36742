"""Convolution, pooling and interpolation over [N, C, spatial]."""

from collections.abc import Sequence

import torch

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import Lower, aten, known, pair


def _both_sides(pads: Sequence[int]) -> list[int]:
    """The padding before and behind each dimension."""
    return [pad for pad in pads for _ in range(2)]


def convolution(
    b: GraphBuilder,
    x: Ref,
    weight: Ref,
    bias: Ref | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool = False,
    output_padding: Sequence[int] = (),
    groups: int = 1,
) -> Ref:
    """As ``torch.ops.aten.convolution``, of one to three dimensions."""
    dims = weight.rank - 2
    known(x.rank == dims + 2 and 1 <= dims <= 3, "an image without a batch")
    strides, pads, dilations = (pair(one, dims) for one in (stride, padding, dilation))
    if dims == 1:
        with_height = convolution(
            b,
            b.view(x, [*x.shape[:2], 1, x.shape[2]]),
            b.view(weight, [*weight.shape[:2], 1, weight.shape[2]]),
            bias,
            [1, *strides],
            [0, *pads],
            [1, *dilations],
            transposed,
            [0, *output_padding],
            groups,
        )
        return b.view(with_height, [*with_height.shape[:2], with_height.shape[3]])
    operands = (x, weight) if bias is None else (x, weight, bias)
    attributes = {
        "strides": [1, 1, *strides],
        "pads": _both_sides(pads),
        "dilations": [1, 1, *dilations],
        "groups": groups,
    }
    if not transposed:
        kind = "Conv2D" if dims == 2 else "Conv3D"
        return b.emit(kind, *operands, **attributes, allow_hf32=b.conv_hf32)
    more = pair(output_padding, dims) if output_padding else [0] * dims
    spatial = zip(x.shape[2:], weight.shape[2:], strides, pads, dilations, more, strict=True)
    sizes = [
        (size - 1) * step - 2 * pad + spread * (kernel - 1) + extra + 1
        for size, kernel, step, pad, spread, extra in spatial
    ]
    return b.emit(
        "Conv2DTranspose" if dims == 2 else "Conv3DTranspose",
        b.host([x.shape[0], weight.shape[1] * groups, *sizes]),
        *operands,
        **attributes,
        output_padding=[0, 0, *more],
    )


def _max_pool(
    b: GraphBuilder,
    x: Ref,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] | int = 0,
    dilation: Sequence[int] | int = 1,
    ceil_mode: bool = False,
) -> tuple[Ref, None]:
    known(not ceil_mode and x.rank == 4 and x.dtype.is_floating_point, "pooling with ceil_mode")
    kernel = pair(kernel)
    y = b.emit(
        "softnpuMaxPool",
        x,
        ksize=kernel,
        strides=pair(stride) if stride else kernel,
        pads=_both_sides(pair(padding)),
        dilations=pair(dilation),
    )
    return y, None


def _average_pool(
    b: GraphBuilder,
    x: Ref,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] | int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
) -> Ref:
    known(x.rank == 4, "pooling of an image without a batch")
    kernel, pads = pair(kernel), pair(padding)
    return b.emit(
        "AvgPoolV2",
        x,
        ksize=[1, 1, *kernel],
        strides=[1, 1, *(pair(stride) if stride else kernel)],
        pads=_both_sides(pads),
        ceil_mode=ceil_mode,
        exclusive=not count_include_pad,
        divisor_override=divisor or 0,
    )


def _adaptive_pool(b: GraphBuilder, x: Ref, size: Sequence[int]) -> Ref:
    return b.emit("AdaptiveAvgPool2d", x, output_size=pair(size))


def _nearest(
    b: GraphBuilder,
    x: Ref,
    size: Sequence[int],
    scale_h: float | None = None,
    scale_w: float | None = None,
) -> Ref:
    """By sizes: scales that are no quotients of sizes choose other elements."""
    for scale, before, after in zip((scale_h, scale_w), x.shape[2:], size, strict=True):
        known(scale is None or scale * before == after, "a scale that is no quotient of sizes")
    for dim, after in zip((2, 3), size, strict=True):
        before = x.shape[dim]
        taken = (torch.arange(after) * (before / after)).floor().long().clamp(max=before - 1)
        x = b.emit("GatherV2", x, b.constant(taken), b.host([dim]))
    return x


def _grid_sample(
    b: GraphBuilder,
    x: Ref,
    grid: Ref,
    interpolation: int = 0,
    padding: int = 0,
    align_corners: bool = False,
) -> Ref:
    return b.emit(
        "GridSampler2D",
        x,
        grid,
        interpolation_mode=("bilinear", "nearest", "bicubic")[interpolation],
        padding_mode=("zeros", "border", "reflection")[padding],
        align_corners=align_corners,
    )


IMAGES: dict[object, Lower] = {
    aten.convolution.default: convolution,
    aten.max_pool2d_with_indices.default: _max_pool,
    aten.avg_pool2d.default: _average_pool,
    aten._adaptive_avg_pool2d.default: _adaptive_pool,
    aten.adaptive_avg_pool2d.default: _adaptive_pool,
    aten.upsample_nearest2d.default: _nearest,
    aten.grid_sampler_2d.default: _grid_sample,
}
