"""A convolution with batch norm and ReLU as one module."""

import torch
from torch import Tensor, nn


class FusedConvBnRelu(nn.Module):
    """``relu(bn(conv(x)))`` with fewer passes over memory.

    ``conv`` (:class:`torch.nn.Conv2d`) and ``bn`` (:class:`torch.nn.BatchNorm2d`) are the layers of the block, under
    their usual names: it can load the state_dict of a block with separate layers.

    With the batch's own statistics (in training, or without running ones) the ReLU is applied to the batch norm's
    result in place. Otherwise batch norm is a scale and a shift per channel, which are folded into the convolution's
    weights and bias; gradients are not affected.
    """

    def __init__(self, conv: nn.Conv2d, bn: nn.BatchNorm2d) -> None:
        """Builds the block from existing layers; ``bn.num_features`` must be ``conv.out_channels``."""
        super().__init__()
        if bn.num_features != conv.out_channels:
            raise ValueError(
                f"the convolution gives {conv.out_channels} channels, and the batch norm takes {bn.num_features}"
            )
        self.conv = conv
        self.bn = bn

    def forward(self, x: Tensor) -> Tensor:
        """``[batch, in_channels, height, width]`` to ``[batch, out_channels, height', width']``."""
        if self.bn.training or self.bn.running_mean is None:
            return self.bn(self.conv(x)).relu_()
        weight, bias = self._folded()
        # The layer itself handles padding with values other than zero.
        return self.conv._conv_forward(x, weight, bias).relu_()

    def _folded(self) -> tuple[Tensor, Tensor]:
        """Weights and bias of the convolution that combines both layers, in the dtype of the convolution's weights."""
        bn, conv = self.bn, self.conv
        scale = torch.rsqrt(bn.running_var + bn.eps)
        if bn.weight is not None:
            scale = scale * bn.weight
        shift = -bn.running_mean if conv.bias is None else conv.bias - bn.running_mean
        shift = shift * scale
        if bn.bias is not None:
            shift = shift + bn.bias
        weight = conv.weight * scale[:, None, None, None]
        return weight.to(conv.weight.dtype), shift.to(conv.weight.dtype)


def fused_conv_bn_relu(
    in_channels: int,
    out_channels: int,
    kernel_size: int | tuple[int, int],
    stride: int | tuple[int, int] = 1,
    padding: int | tuple[int, int] | str = 0,
    dilation: int | tuple[int, int] = 1,
    groups: int = 1,
    bias: bool = True,
    *,
    eps: float = 1e-5,
    momentum: float | None = 0.1,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> FusedConvBnRelu:
    """A new :class:`FusedConvBnRelu`; the arguments are those of Conv2d and BatchNorm2d.

    Example:
        >>> block = torch_npu.ops.fused_conv_bn_relu(64, 64, 3, padding=1).npu()
        >>> block(torch.randn(2, 64, 56, 56, device="npu")).shape
        torch.Size([2, 64, 56, 56])
    """
    options = {"device": device, "dtype": dtype}
    conv = nn.Conv2d(
        in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, **options
    )
    return FusedConvBnRelu(conv, nn.BatchNorm2d(out_channels, eps, momentum, **options))
