"""Permitted loss of float32 precision: far less than HF32's, and none without the permission."""

import os
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from opinfo.permission import hf32
from torch import Tensor, nn

from tests.capability.test_dead_stores import check
from torch_npu import Format, accuracy, npu_format_cast
from torch_npu.accuracy import Tolerance

HALF_ULP = 2**-24
# How many times its share of the sum's root mean square an error of one tile element may be amplified in the worst
# result of Winograd's 4 x 4 or 2 x 2 tiles: the product of the squared row norms of its three transforms.
AMPLIFICATION = 31.45
OF_SMALL_TILES = 5 / 3
TILE, READ = 4, 6
DEVIATIONS = 6
# For three products of eight bits each: the omitted product of the lower parts, and the rounding of both of them.
SPLIT = 2**-15
CHANNELS = 32


@pytest.fixture(autouse=True)
def _by_rule(fixed_rule: None):
    """Winograd's algorithm serves wherever it is allowed."""


def splits() -> bool:
    """Whether this process uses split products of bfloat16 if float32 may lose precision."""
    return os.environ.get("SOFTNPU_SPLIT") == "1"


@pytest.fixture(params=[torch.npu.conv, torch.npu.config], ids=["conv", "config"])
def allow(request: pytest.FixtureRequest) -> Iterator[Callable[[bool], None]]:
    """Sets the permission, and restores it at the end."""
    name = "allow_hf32" if request.param is torch.npu.conv else "allow_tf32"
    with hf32(convolutions=True):
        yield lambda on: setattr(request.param, name, on)


def operands(
    batch: int, channels: int, size: tuple[int, int], result: int
) -> tuple[Tensor, Tensor, Tensor]:
    """An image, a 3 x 3 filter and a bias, with values of both signs and several magnitudes."""
    generator = torch.Generator().manual_seed(batch * channels + result)
    image = torch.randn(batch, channels, *size, generator=generator)
    image *= torch.rand(1, channels, 1, 1, generator=generator).mul(8).exp2()
    filters = torch.randn(result, channels, 3, 3, generator=generator)
    return image, filters, torch.randn(result, generator=generator)


def around(x: Tensor) -> Tensor:
    """The largest value of all tiles that may contain an element."""
    return F.max_pool2d(x, 2 * TILE - 1, stride=1, padding=TILE - 1)


def assert_near(
    found: Tensor,
    function: Callable[..., Tensor],
    *values: Tensor,
    amplification: float = AMPLIFICATION,
    terms: int | None = None,
) -> None:
    """``found`` is ``function`` of ``values``, up to the roundings of Winograd's transforms and sums.

    An error is a random walk: each of the products' ``terms``, by default the channels, and some steps of the
    transforms round once, at the size of the sum of a tile. Other algorithms lose less.
    """
    widened = [v.double() for v in values]
    expected = function(*widened)
    squares = function(*(v.square() for v in widened))
    roundings = (terms or max(values[0].shape[1], *values[1].shape[:2])) + 2 * READ
    tiles = around(squares).sqrt() if squares.dim() == 4 else squares.sqrt()
    bound = DEVIATIONS * HALF_ULP * roundings**0.5 * amplification * tiles
    if splits():
        bound = bound.maximum(SPLIT * function(*(v.abs() for v in widened)))
    accuracy.assert_close(found, expected, Tolerance(absolute=bound))
    magnitude = function(*(v.abs() for v in widened))
    assert bound.mean() <= 2**-11 / 8 * magnitude.mean(), "HF32 would not be worse"


LAYOUTS = {
    "plain": lambda x: x,
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "sliced": lambda x: F.pad(x, (1, 2))[..., 1:-2],
    "blocks": lambda x: npu_format_cast(x, Format.NC1HWC0),
}
SIZES = [
    (1, CHANNELS, (16, 16), 48),  # whole tiles
    (3, 48, (13, 19), CHANNELS),  # edges inside tiles
    (8, 64, (7, 7), 64),  # few tiles per image
    (2, CHANNELS, (57, 33), 96),  # several pieces per thread
]


@pytest.mark.parametrize("padding", [0, 1, 2, (2, 0)])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_convolutions_lose_less_than_hf32(layout: str, sizes: tuple, padding: int):
    image, filters, bias = operands(*sizes)
    torch.npu.config.allow_internal_format = True
    try:
        given = LAYOUTS[layout](image.npu())
        result = [F.conv2d(given, filters.npu(), bias.npu(), padding=padding) for _ in range(3)]
    finally:
        torch.npu.config.allow_internal_format = False
    assert_near(result[0], lambda x, w, b: F.conv2d(x, w, b, padding=padding), image, filters, bias)
    for other in result[1:]:
        assert torch.equal(other, result[0])


@pytest.mark.parametrize("sizes", [(4, 352, (7, 7), 352), (4, 384, (9, 7), 400)], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_few_tiles_of_a_large_filter_lose_hardly_more_than_float32(layout: str, sizes: tuple):
    image, filters, bias = operands(*sizes)
    run = lambda x, w, b: F.conv2d(x, w, b, padding=1)  # noqa: E731
    result = run(LAYOUTS[layout](image.npu()), filters.npu(), bias.npu())
    assert_near(result, run, image, filters, bias, amplification=OF_SMALL_TILES)


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_gradients_of_the_input_lose_less_than_hf32(padding: int):
    grad, filters, bias = operands(2, 64, (18, 15), 48)
    filters, bias = filters.transpose(0, 1).contiguous(), bias[:48]
    image = (
        F.conv_transpose2d(grad, filters.new_zeros(64, 48, 3, 3), padding=padding)
        .npu()
        .requires_grad_()
    )
    F.conv2d(image, filters.npu(), padding=padding).backward(grad.npu())
    assert_near(image.grad, lambda g, w: F.conv_transpose2d(g, w, padding=padding), grad, filters)
    result = F.conv_transpose2d(grad.npu(), filters.npu(), bias.npu(), padding=padding)
    assert_near(
        result, lambda g, w, b: F.conv_transpose2d(g, w, b, padding=padding), grad, filters, bias
    )


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("sizes", [*SIZES, (4, 352, (7, 7), 352)], ids=str)
@pytest.mark.parametrize("layout", ["plain", "channels_last", "sliced"])
def test_gradients_of_filters_lose_less_than_hf32(layout: str, sizes: tuple, padding: int):
    image, filters, _ = operands(*sizes)
    gradient = torch.cos(F.conv2d(image, filters, padding=padding))
    given = LAYOUTS[layout](image.npu()), LAYOUTS[layout](filters.npu()).requires_grad_()
    F.conv2d(*given, padding=padding).backward(LAYOUTS[layout](gradient.npu()))
    assert_near(
        given[1].grad,
        lambda x, g: torch.nn.grad.conv2d_weight(x, filters.shape, g, padding=padding),
        image,
        gradient,
        terms=gradient[:, 0].numel() // 4,  # tiles of 2 x 2
    )


def test_without_hf32_float32_precision_is_kept(allow: Callable[[bool], None]):
    image, filters, bias = (v.npu() for v in operands(2, 64, (16, 16), 64))
    run = lambda: F.conv2d(image, filters, bias, padding=1)  # noqa: E731
    assert torch.npu.conv.allow_hf32 is True
    less = run()
    allow(False)
    assert torch.npu.conv.allow_hf32 is False
    exact = run()
    allow(True)
    assert not torch.equal(less, exact)
    assert torch.equal(run(), less)


@pytest.mark.skipif(splits(), reason="these are split on this CPU")
@pytest.mark.parametrize(
    "options",
    [{"stride": 2}, {"dilation": 2}, {"groups": 2}],
    ids=lambda options: "-".join(options),
)
def test_other_convolutions_are_unchanged(options: dict[str, int], allow: Callable[[bool], None]):
    image, filters, _ = (v.npu() for v in operands(2, 64, (16, 16), 64))
    filters = filters[:, : 64 // options.get("groups", 1)]
    result = F.conv2d(image, filters, **options)
    allow(False)
    assert torch.equal(F.conv2d(image, filters, **options), result)


def test_following_layers_are_fused():
    torch.manual_seed(0)
    layers = nn.Sequential(
        nn.Conv2d(64, 64, 3, padding=1),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.Conv2d(64, 64, 3),
        nn.ReLU(),
    )
    layers = layers.npu().eval()
    image = torch.randn(4, 64, 56, 56).npu()

    def work() -> Tensor:
        with torch.no_grad():
            return layers(image)

    check(work)


def test_a_write_to_a_filter_is_detected():
    image, filters, bias = operands(2, 64, (16, 16), 64)
    on_device, layer = image.npu(), nn.Conv2d(64, 64, 3).npu()
    for scale in (1, 3):
        with torch.no_grad():
            layer.weight.copy_(filters * scale)
            layer.bias.copy_(bias)
            for _ in range(3):
                assert_near(layer(on_device), F.conv2d, image, filters * scale, bias)


def test_products_have_a_separate_permission():
    a, b = torch.randn(200, 300), torch.randn(300, 400)
    exact = a.npu() @ b.npu()
    with hf32(convolutions=False, products=True):
        assert torch.npu.config.allow_tf32 is False  # convolutions may not
        assert_near(a.npu() @ b.npu(), torch.matmul, a, b)
    assert torch.equal(a.npu() @ b.npu(), exact)
