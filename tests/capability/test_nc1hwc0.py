"""Operators on NC1HWC0 images: they keep the format, and have the same results as on plain images."""

import copy
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.aclnn import blocks
from tests.capability.test_formats import held
from torch_npu import Format, accuracy, get_npu_format, npu_format_cast
from torch_npu.accuracy import Tolerance

NAME = Format.NC1HWC0


@pytest.fixture(autouse=True)
def allowed() -> Iterator[None]:
    """Allows blocked formats in this file."""
    torch.npu.config.allow_internal_format = True
    yield
    torch.npu.config.allow_internal_format = False


def parameter(*sizes: int) -> Tensor:
    """Random parameters on npu."""
    return torch.randn(sizes, generator=torch.Generator().manual_seed(len(sizes))).npu()


def weighted(*sizes: int, **options: int | tuple[int, int]) -> Callable[[Tensor], Tensor]:
    """A convolution with a weight of these sizes."""
    return lambda x: F.conv2d(x, parameter(*sizes), parameter(sizes[0]), **options)


def normalised(training: bool) -> Callable[[Tensor], Tensor]:
    """A batch normalization with running statistics."""

    def norm(x: Tensor) -> Tensor:
        mean, spread = parameter(x.size(1)), parameter(x.size(1)).abs() + 1
        return F.batch_norm(x, mean, spread, spread, mean, training)

    return norm


# Name -> operator on one image, and whether its sums may be in another order than those of a plain image.
STAY = {
    "relu": (torch.relu, False),
    "relu_": (lambda x: (x * 1).relu_(), False),
    "clone": (torch.clone, False),
    "add": (lambda x: x + x * 2, False),
    "add_": (lambda x: (x * 1).add_(x, alpha=3), False),
    "a plain image added": (lambda x: x + parameter(*x.shape), False),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), False),
    "hardswish": (F.hardswish, False),
    "silu": (F.silu, False),
    "conv3x3": (weighted(48, 32, 3, 3, padding=1), True),
    "conv1x1": (weighted(24, 32, 1, 1, stride=2), True),
    "conv in groups": (weighted(64, 8, 3, 3, groups=4), True),
    "depthwise conv": (weighted(32, 1, 3, 3, groups=32), True),
    "dilated conv": (weighted(16, 32, 3, 3, dilation=2), True),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), False),
    # Small planes of a plain image are computed by a table of weights, blocks row by row.
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1), True),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), True),
    "batch_norm": (normalised(False), False),
    "batch_norm in training": (normalised(True), False),
}


def tolerance(exact: bool, expected: Tensor) -> float:
    """For sums of up to 512 products in another order: sqrt(512) roundings of the largest."""
    return 0.0 if exact else 512**0.5 * 2**-23 * float(expected.abs().max())


@pytest.mark.parametrize("name", STAY)
def test_images_stay_in_blocks(name):
    operator, is_reordered = STAY[name]
    x = torch.randn(2, 32, 9, 7)
    image = npu_format_cast(x.npu(), NAME)
    created = operator(image)
    expected = operator(x.npu()).cpu()
    assert get_npu_format(created) is NAME
    in_memory = blocks.images(expected).contiguous()
    atol = tolerance(not is_reordered, expected)
    accuracy.assert_close(
        held(created, in_memory), in_memory, Tolerance(absolute=atol), equal_nan=False
    )
    before = blocks.images(x).contiguous()
    assert torch.equal(held(image, before), before)  # still in blocks
    accuracy.assert_close(created, expected, Tolerance(absolute=atol), equal_nan=False)


# For other operators autograd copies the gradient that the caller references to a plain tensor.
@pytest.mark.parametrize(
    "name", [name for name in STAY if name not in ("clone", "a plain image added")]
)
def test_gradients_are_in_blocks(name):
    operator, is_reordered = STAY[name]
    x = torch.randn(2, 32, 9, 7)
    plain = x.npu().requires_grad_()
    image = npu_format_cast(x.npu(), NAME).requires_grad_()
    for leaf in (plain, image):
        out = operator(leaf)
        out.backward(out.detach())
    expected = plain.grad.cpu()
    assert get_npu_format(image.grad) is NAME
    accuracy.assert_close(
        image.grad,
        expected,
        Tolerance(absolute=2 * tolerance(not is_reordered, expected)),
        equal_nan=False,
    )


LEAVE = {
    "blocks that are not full": (20, torch.sigmoid),
    "batch norm of such": (20, normalised(True)),
    "max_pool2d of such": (20, lambda x: F.max_pool2d(x, 2)),
    "a transposed convolution": (
        32,
        lambda x: F.conv_transpose2d(x, parameter(32, 8, 3, 3), parameter(8)),
    ),
    "two dtypes": (32, lambda x: x.half() + x),
    "a view": (32, lambda x: torch.relu(x[:, 1:])),
    "an image of one channel added": (32, lambda x: x + x[:, :1]),
    "flattened": (32, lambda x: x.flatten(1) @ parameter(32 * 63, 5)),
    "upsampled": (32, lambda x: F.interpolate(x, scale_factor=2)),
}


@pytest.mark.parametrize("name", LEAVE)
def test_operators_that_leave_the_format_are_correct(name):
    channels, operator = LEAVE[name]
    x = torch.randn(2, channels, 9, 7)
    image = npu_format_cast(x.npu(), NAME)
    assert torch.equal(operator(image).cpu(), operator(x.npu()).cpu())
    assert torch.equal(image.cpu(), x)


@pytest.mark.parametrize("channels", [20, 3])
def test_zeros_fill_the_last_block(channels):
    x = torch.randn(2, channels, 12, 12)
    image = npu_format_cast(x.npu(), NAME)
    for created in (torch.relu(image), F.avg_pool2d(image, 2), image * 3):
        expected = blocks.images(created.cpu()).contiguous()
        assert get_npu_format(created) is NAME
        assert torch.equal(held(npu_format_cast(created, NAME), expected), expected)
    weight = parameter(24, channels, 7, 7)
    created = F.conv2d(image, weight, stride=2, padding=3)
    expected = F.conv2d(x.double(), weight.cpu().double(), stride=2, padding=3)
    filled = blocks.images(expected.float()).contiguous()
    atol = tolerance(False, expected) * 4
    accuracy.assert_close(held(created, filled), filled, Tolerance(absolute=atol), equal_nan=False)
    assert not held(created, filled)[:, 1, ..., 8:].any()


def read_group(
    start: threading.Barrier, reader: Callable[[Tensor], Tensor], image: Tensor
) -> Tensor:
    """The result of ``reader`` on the image, when all threads are ready."""
    start.wait()
    return reader(image).cpu()


def test_threads_read_one_image_with_and_without_blocks():
    readers = [lambda x: torch.relu(x * 2), lambda x: x.flatten(1) + 1] * 2
    x = torch.randn(2, 32, 24, 24)
    expected = [reader(x) for reader in readers]
    for _ in range(20):
        image = npu_format_cast(x.npu(), NAME)
        with ThreadPoolExecutor(len(readers)) as pool:
            start = threading.Barrier(len(readers))
            jobs = [pool.submit(read_group, start, reader, image) for reader in readers]
        for job, right in zip(jobs, expected, strict=True):
            assert torch.equal(job.result(), right)


class Residual(nn.Module):
    """Two convolutions with the other operators of a residual network."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(32) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(32, 32, 3, padding=1, bias=False) for _ in range(2))
        self.head = nn.Linear(32, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The scores, and the last image."""
        x = F.max_pool2d(F.relu(self.norms[0](self.stem(x))), 3, 2, 1)
        y = F.relu(self.norms[1](self.convs[0](x)))
        image = F.relu(self.norms[2](self.convs[1](y)).add_(x))
        return self.head(image.mean((2, 3))), image


def test_network_stays_in_nc1hwc0_and_learns_the_same():
    torch.manual_seed(0)
    plain = Residual().npu()
    other = copy.deepcopy(plain)
    x = torch.randn(4, 3, 16, 16).npu()
    target = torch.tensor([0, 1, 2, 3]).npu()
    losses: list[list[float]] = []
    for network, images in ((plain, x), (other, npu_format_cast(x, NAME))):
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
        losses.append([])
        for _ in range(4):
            optimizer.zero_grad()
            scores, last = network(images)
            assert get_npu_format(last) is get_npu_format(images)
            loss = F.cross_entropy(scores, target)
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0][-1] < losses[0][0]
    accuracy.assert_close(
        torch.tensor(losses[1]), torch.tensor(losses[0]), Tolerance(1e-3), equal_nan=False
    )
