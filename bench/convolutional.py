"""Convolutional networks that peers are measured on, in their authors' sizes, with weights of their own drawing."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def _norm_and_relu(channels: int, activation: type[nn.Module] = nn.ReLU) -> list[nn.Module]:
    return [nn.BatchNorm2d(channels), activation()]


def _convolution(
    read: int, result: int, kernel: int = 3, stride: int = 1, groups: int = 1
) -> nn.Conv2d:
    return nn.Conv2d(read, result, kernel, stride, kernel // 2, groups=groups, bias=False)


class _Residual(nn.Module):
    """Two convolutions of 3 x 3 and what goes round them."""

    def __init__(self, read: int, result: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _convolution(read, result, stride=stride),
            *_norm_and_relu(result),
            _convolution(result, result),
            nn.BatchNorm2d(result),
        )
        same = read == result and stride == 1
        shortcut = [] if same else [_convolution(read, result, 1, stride), nn.BatchNorm2d(result)]
        self.shortcut = nn.Sequential(*shortcut)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet18() -> nn.Module:
    """He and others 2015, 11.7 M parameters; images of 224 x 224."""
    layers = [_convolution(3, 64, 7, 2), *_norm_and_relu(64), nn.MaxPool2d(3, 2, 1)]
    read = 64
    for result, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [_Residual(read, result, stride), _Residual(result, result, 1)]
        read = result
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def vgg11() -> nn.Module:
    """Simonyan and Zisserman 2014, its features with batch norm and one linear layer; images of 224 x 224."""
    layers: list[nn.Module] = []
    read = 3
    for result, pooled in ((64, True), (128, True), (256, False), (256, True), (512, False), (512, True), (512, False), (512, True)):  # fmt: skip
        layers += [_convolution(read, result), *_norm_and_relu(result)]
        layers += [nn.MaxPool2d(2)] if pooled else []
        read = result
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


class UNet(nn.Module):
    """Ronneberger and others 2015: three levels, from 32 channels on; images of 128 x 128."""

    CHANNELS = (32, 64, 128)

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()

        def pair(read: int, result: int) -> nn.Sequential:
            first, second = _convolution(read, result), _convolution(result, result)
            return nn.Sequential(first, *_norm_and_relu(result), second, *_norm_and_relu(result))

        first, middle, last = self.CHANNELS
        self.down = nn.ModuleList([pair(3, first), pair(first, middle)])
        self.bottom = pair(middle, last)
        self.widen = nn.ModuleList([nn.ConvTranspose2d(last, middle, 2, 2), nn.ConvTranspose2d(middle, first, 2, 2)])  # fmt: skip
        self.up = nn.ModuleList([pair(last, middle), pair(middle, first)])
        self.head = nn.Conv2d(first, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` [batch, 3, height, width], sizes that 4 divides; two maps of the same size."""
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = torch.max_pool2d(x, 2)
        x = self.bottom(x)
        for widen, block in zip(self.widen, self.up, strict=True):
            x = block(torch.cat((kept.pop(), widen(x)), 1))
        return self.head(x)


class _Inverted(nn.Module):
    """Wider, each channel on its own, narrower."""

    def __init__(self, read: int, result: int, stride: int, factor: int, kernel: int = 3) -> None:
        super().__init__()
        widened = read * factor
        first = (
            [_convolution(read, widened, 1), *_norm_and_relu(widened, nn.ReLU6)]
            if factor > 1
            else []
        )
        self.adds = read == result and stride == 1
        self.body = nn.Sequential(
            *first,
            _convolution(widened, widened, kernel, stride, groups=widened),
            *_norm_and_relu(widened, nn.ReLU6),
            _convolution(widened, result, 1),
            nn.BatchNorm2d(result),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.adds else self.body(x)


def _inverted_network(stages: Sequence[tuple[int, int, int, int, int]]) -> nn.Module:
    """``stages``: factor, channels of the result, blocks, stride of the first block, kernel."""
    layers: list[nn.Module] = [_convolution(3, 32, 3, 2), *_norm_and_relu(32, nn.ReLU6)]
    read = 32
    for factor, result, count, stride, kernel in stages:
        for i in range(count):
            layers.append(_Inverted(read, result, stride if i == 0 else 1, factor, kernel))
            read = result
    layers += [_convolution(read, 1280, 1), *_norm_and_relu(1280, nn.ReLU6)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


def mobilenet_v2() -> nn.Module:
    """Sandler and others 2018, 3.5 M parameters; images of 224 x 224."""
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))  # fmt: skip
    return _inverted_network([(*stage, 3) for stage in stages])


def efficientnet_lite0() -> nn.Module:
    """Tan and Le 2019 without squeeze and excitation, ReLU6, 4.7 M parameters; images of 224 x 224."""
    return _inverted_network(((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)))  # fmt: skip


# Name -> network and the size of its images.
NETWORKS = {
    "ResNet-18": (resnet18, 224),
    "VGG-11": (vgg11, 224),
    "U-Net": (UNet, 128),
    "MobileNetV2": (mobilenet_v2, 224),
    "EfficientNet-Lite0": (efficientnet_lite0, 224),
}


def with_statistics(network: nn.Module) -> nn.Module:
    """In evaluation mode, with statistics that are not 0 and 1, so that folding them is work."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, std=0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1)
    return network.eval()
