"""The sepia filter of images in Ascend C, with its gradient."""

import torch

from torch_npu.ascendc.kernels import _operator

_TILING = _operator.tiling("sepia")
_TILE = 3584  # pixels: two buffers of six planes are 168 KiB


def _with_channels(image: torch.Tensor, channels: int) -> torch.Tensor:
    return image.new_empty((*image.shape[:-3], channels, *image.shape[-2:]))


def _check(image: torch.Tensor, channels: tuple[int, ...] = (1, 3)) -> None:
    _operator.check("sepia", image=image)
    if image.dim() < 3 or image.shape[-3] not in channels:
        raise ValueError(
            f"sepia: image is {tuple(image.shape)}: [..., 1 or 3 channels, height, width] is needed"
        )


def _check_backward(grad: torch.Tensor, channels: int) -> None:
    _check(grad, (3,))
    if channels not in (1, 3):
        raise ValueError(f"sepia_backward: channels is {channels}: 1 or 3 is needed")


def _launch_of(
    image: torch.Tensor, source: torch.Tensor, result: torch.Tensor
) -> tuple[int, tuple[object, ...], int]:
    """Of planes of ``source`` that become planes of ``result``; one of them has the image's channels."""
    channels, pixels = image.shape[-3], image.shape[-2] * image.shape[-1]
    images = image.numel() // max(1, channels * pixels)
    tiling = _TILING.pack(images=images, pixels=pixels, tile=_TILE, channels=channels)
    blocks = _operator.cores(images * -(-pixels // _TILE))
    return blocks, (source, result, tiling), _operator.TILING_KEYS[image.dtype]


def _launch(image: torch.Tensor, result: torch.Tensor) -> tuple[int, tuple[object, ...], int]:
    return _launch_of(image, image, result)


def _launch_backward(
    grad: torch.Tensor, channels: int, result: torch.Tensor
) -> tuple[int, tuple[object, ...], int]:
    return _launch_of(result, grad, result)


def _second_gradients(ctx, grad) -> tuple[torch.Tensor, None]:  # noqa: ANN001
    return _sepia(grad), None


_backward = _operator.define(
    "sepia",
    "sepia_backward(Tensor grad, int channels) -> Tensor",
    _launch_backward,
    _check_backward,
    _with_channels,
    _second_gradients,
)


def _setup_context(ctx, inputs, output) -> None:  # noqa: ANN001
    ctx.channels = inputs[0].shape[-3]


def _gradients(ctx, grad) -> torch.Tensor:  # noqa: ANN001
    return _backward(grad, ctx.channels)


_sepia = _operator.define(
    "sepia",
    "sepia(Tensor image) -> Tensor",
    _launch,
    _check,
    lambda image: _with_channels(image, 3),
    _gradients,
    _setup_context,
)


def sepia(image: torch.Tensor) -> torch.Tensor:
    """The sepia filter, computed in float32, with gradients.

    ``R' = 0.393 R + 0.769 G + 0.189 B``, ``G' = 0.349 R + 0.686 G + 0.168 B``, ``B' = 0.272 R + 0.534 G + 0.131 B``,
    not clamped.

    Args:
        image: ``[..., channels, height, width]``; float32, float16 or bfloat16, on the npu. One channel is used for all
            three colors, 3 are red, green and blue.

    Returns:
        A contiguous tensor ``[..., 3, height, width]`` of the type of ``image``.

    Raises:
        ValueError: ``image`` has another shape, type or device.
    """
    return _sepia(image)
