"""Small networks with random weights, which the tests of the official wheel train and run."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

STEPS = 10


class Block(nn.Module):
    """A basic block of ResNet (He et al., 2015): two 3x3 convolutions around a shortcut."""

    def __init__(self, inside: int, outside: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Sequential()
        if stride != 1 or inside != outside:
            conv = nn.Conv2d(inside, outside, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(outside))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += self.shortcut(x)
        return F.relu(y, inplace=True)


def resnet18() -> nn.Module:
    """ResNet-18 with 1,000 classes."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    layers.append(nn.MaxPool2d(3, 2, 1))
    inside = 64
    for outside, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inside, outside, stride), Block(outside, outside, 1)]
        inside = outside
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def small_cnn() -> nn.Module:
    """Two convolutions with batch norm and pooling, for 1x8x8 images of 10 classes."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 16, 10),
    )


class Sequence(nn.Module):
    """An embedding, one encoder layer without dropout, a classifier on the mean."""

    def __init__(self, words: int = 50, width: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.classifier = nn.Linear(width, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.classifier(self.layer(self.embedding(tokens)).mean(1))


class Recurrent(nn.Module):
    """An LSTM over rows of 8 numbers, a classifier on its last output."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.classifier = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.lstm(x)[0][:, -1])


def digits(count: int) -> tuple[Tensor, Tensor]:
    """`count` images of 8x8 in [0, 1] whose class is the position of a bright area, and the classes."""
    generator = torch.Generator().manual_seed(0)
    classes = torch.randint(0, 10, (count,), generator=generator)
    images = torch.rand(count, 1, 8, 8, generator=generator) / 2
    images[torch.arange(count), 0, classes % 8, classes // 2] += 1
    return images, classes


def train(
    model: nn.Module,
    inputs: Tensor,
    classes: Tensor,
    optimizer: Callable[..., torch.optim.Optimizer],
) -> list[float]:
    """The losses before each of STEPS steps."""
    steps = optimizer(model.parameters())
    losses = []
    for _ in range(STEPS):
        loss = F.cross_entropy(model(inputs), classes)
        steps.zero_grad()
        loss.backward()
        steps.step()
        losses.append(loss.item())
    return losses
