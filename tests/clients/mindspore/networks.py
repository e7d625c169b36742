"""Networks, data and training steps of the tests, made of MindSpore's mint."""

from collections.abc import Callable

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, nn
from mindspore.mint.nn import functional

CLASSES = 10


class LeNet(nn.Cell):
    """LeNet-5 for images of 1 x 28 x 28."""

    def __init__(self) -> None:
        """Makes the layers."""
        super().__init__()
        self.conv1 = mint.nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = mint.nn.Conv2d(6, 16, 5)
        self.pool = mint.nn.MaxPool2d(2, 2)
        self.fc1 = mint.nn.Linear(16 * 5 * 5, 120)
        self.fc2 = mint.nn.Linear(120, 84)
        self.fc3 = mint.nn.Linear(84, CLASSES)

    def construct(self, x: Tensor) -> Tensor:
        """Logits of [N, CLASSES] for images of [N, 1, 28, 28]."""
        x = self.pool(functional.relu(self.conv1(x)))
        x = self.pool(functional.relu(self.conv2(x)))
        x = mint.flatten(x, 1)
        x = functional.relu(self.fc1(x))
        return self.fc3(functional.relu(self.fc2(x)))


class Block(nn.Cell):
    """A transformer block with a classifier of each position."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        """Makes the layers."""
        super().__init__()
        self.heads = heads
        self.qkv = mint.nn.Linear(width, 3 * width)
        self.out = mint.nn.Linear(width, width)
        self.norm1 = mint.nn.LayerNorm([width])
        self.norm2 = mint.nn.LayerNorm([width])
        self.up = mint.nn.Linear(width, 4 * width)
        self.down = mint.nn.Linear(4 * width, width)
        self.head = mint.nn.Linear(width, CLASSES)

    def construct(self, x: Tensor) -> Tensor:
        """Logits of [N * S, CLASSES] for values of [N, S, width]."""
        n, s, width = x.shape
        # Not by indices: compiled graphs have StridedSlice for them, of the classic API.
        q, k, v = mint.split(self.qkv(self.norm1(x)), width, -1)
        shape = (n, s, self.heads, width // self.heads)
        q = mint.permute(mint.reshape(q, shape), (0, 2, 1, 3))
        k = mint.permute(mint.reshape(k, shape), (0, 2, 1, 3))
        v = mint.permute(mint.reshape(v, shape), (0, 2, 1, 3))
        scores = mint.matmul(q, mint.transpose(k, -2, -1)) / (width // self.heads) ** 0.5
        mixed = mint.matmul(functional.softmax(scores, -1), v)
        x = x + self.out(mint.reshape(mint.permute(mixed, (0, 2, 1, 3)), (n, s, width)))
        x = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return mint.reshape(self.head(x), (n * s, CLASSES))


def images(count: int = 32) -> tuple[Tensor, Tensor]:
    """Images whose brightest row is their class, and the classes."""
    random = np.random.default_rng(1)
    labels = random.integers(0, CLASSES, count)
    pixels = random.standard_normal((count, 1, 28, 28)).astype(np.float32) * 0.3
    pixels[np.arange(count), 0, 2 * labels + 4] += 2
    return Tensor(pixels), Tensor(labels.astype(np.int64))


def sequences(count: int = 4, length: int = 8, width: int = 32) -> tuple[Tensor, Tensor]:
    """Random vectors whose largest of the first values is their class, and the classes."""
    values = np.random.default_rng(2).standard_normal((count, length, width)).astype(np.float32)
    labels = values[..., :CLASSES].argmax(-1).reshape(-1)
    return Tensor(values), Tensor(labels.astype(np.int64))


def train(
    network: nn.Cell,
    data: tuple[Tensor, Tensor],
    steps: int,
    wrap: Callable[[Callable[..., Tensor]], Callable[..., Tensor]] = lambda f: f,
) -> list[float]:
    """The losses of ``steps`` steps of AdamW; ``wrap`` may compile the network's forward pass."""

    def forward(x: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(network(x), labels)

    optimizer = mint.optim.AdamW(network.trainable_params(), lr=2e-3)
    step = ms.value_and_grad(wrap(forward), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, gradients = step(*data)
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses
