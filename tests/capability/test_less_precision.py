"""What float32 may lose where a program allows it: no more than HF32 would, and nothing where it allows nothing."""

from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.capability.test_left_out import check
from torch_npu import Format, npu_format_cast

# Both factors are rounded: HF32 keeps 11 bits of a significand, bfloat16, which CPUs with AMX take, 8.
UNIT = 2**-8 if torch.cpu._is_amx_tile_supported() else 2**-11
CHANNELS = 32


@pytest.fixture(params=[torch.npu.conv, torch.npu.config], ids=["conv", "config"])
def allow(request: pytest.FixtureRequest) -> Iterator[Callable[[bool], None]]:
    """Gives the permission, and takes it back at the end."""
    name = "allow_hf32" if request.param is torch.npu.conv else "allow_tf32"
    yield lambda on: setattr(request.param, name, on)
    setattr(request.param, name, False)


@pytest.fixture
def allowed() -> Iterator[None]:
    """Convolutions may lose digits."""
    torch.npu.conv.allow_hf32 = True
    yield
    torch.npu.conv.allow_hf32 = False


def operands(
    batch: int, channels: int, size: tuple[int, int], made: int
) -> tuple[Tensor, Tensor, Tensor]:
    """An image, a filter of 3 x 3 places and a bias, with values of both signs and of some magnitudes."""
    generator = torch.Generator().manual_seed(batch * channels + made)
    image = torch.randn(batch, channels, *size, generator=generator)
    image *= torch.rand(1, channels, 1, 1, generator=generator).mul(8).exp2()
    filters = torch.randn(made, channels, 3, 3, generator=generator)
    return image, filters, torch.randn(made, generator=generator)


def assert_near(found: Tensor, function: Callable[..., Tensor], *values: Tensor) -> None:
    """``found`` is what ``function`` makes of ``values`` but for the rounding of both factors of each term."""
    expected = function(*(v.double() for v in values))
    magnitude = function(*(v.double().abs() for v in values))
    assert ((found.cpu().double() - expected).abs() <= UNIT * magnitude).all()


LAYOUTS = {
    "plain": lambda x: x,
    "channels_last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "sliced": lambda x: F.pad(x, (1, 2))[..., 1:-2],
    "blocks": lambda x: npu_format_cast(x, Format.NC1HWC0),
}
SIZES = [
    (1, CHANNELS, (16, 16), 48),  # whole tiles
    (3, 48, (13, 19), CHANNELS),  # edges within tiles
    (8, 64, (7, 7), 64),  # few tiles of each image
    (2, CHANNELS, (57, 33), 96),  # several pieces for each thread
]


@pytest.mark.parametrize("padding", [0, 1, 2, (2, 0)])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_convolutions_lose_less_than_hf32(layout: str, sizes: tuple, padding: int, allowed: None):
    image, filters, bias = operands(*sizes)
    torch.npu.config.allow_internal_format = True
    try:
        given = LAYOUTS[layout](image.npu())
        made = [F.conv2d(given, filters.npu(), bias.npu(), padding=padding) for _ in range(3)]
    finally:
        torch.npu.config.allow_internal_format = False
    assert_near(made[0], lambda x, w, b: F.conv2d(x, w, b, padding=padding), image, filters, bias)
    for other in made[1:]:
        assert torch.equal(other, made[0])


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_gradients_of_the_input_lose_less_than_hf32(padding: int, allowed: None):
    grad, filters, bias = operands(2, 64, (18, 15), 48)
    filters, bias = filters.transpose(0, 1).contiguous(), bias[:48]
    image = (
        F.conv_transpose2d(grad, filters.new_zeros(64, 48, 3, 3), padding=padding)
        .npu()
        .requires_grad_()
    )
    F.conv2d(image, filters.npu(), padding=padding).backward(grad.npu())
    assert_near(image.grad, lambda g, w: F.conv_transpose2d(g, w, padding=padding), grad, filters)
    made = F.conv_transpose2d(grad.npu(), filters.npu(), bias.npu(), padding=padding)
    assert_near(
        made, lambda g, w, b: F.conv_transpose2d(g, w, b, padding=padding), grad, filters, bias
    )


def test_without_permission_nothing_is_lost(allow: Callable[[bool], None]):
    image, filters, bias = (v.npu() for v in operands(2, 64, (16, 16), 64))
    run = lambda: F.conv2d(image, filters, bias, padding=1)  # noqa: E731
    assert torch.npu.conv.allow_hf32 is False
    exact = run()
    allow(True)
    assert torch.npu.conv.allow_hf32 is True
    less = run()
    allow(False)
    assert not torch.equal(less, exact)
    assert torch.equal(run(), exact)


@pytest.mark.skipif(UNIT != 2**-11, reason="every convolution goes by bfloat16 on this CPU")
@pytest.mark.parametrize(
    "options",
    [{"stride": 2}, {"dilation": 2}, {"groups": 2}],
    ids=lambda options: "-".join(options),
)
def test_other_convolutions_stay_as_they_are(
    options: dict[str, int], allow: Callable[[bool], None]
):
    image, filters, _ = (v.npu() for v in operands(2, 64, (16, 16), 64))
    filters = filters[:, : 64 // options.get("groups", 1)]
    exact = F.conv2d(image, filters, **options)
    allow(True)
    assert torch.equal(F.conv2d(image, filters, **options), exact)


def test_what_stands_behind_them_goes_together(allowed: None):
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


def test_a_written_filter_is_noticed(allowed: None):
    image, filters, bias = operands(2, 64, (16, 16), 64)
    on_device, layer = image.npu(), nn.Conv2d(64, 64, 3).npu()
    for scale in (1, 3):
        with torch.no_grad():
            layer.weight.copy_(filters * scale)
            layer.bias.copy_(bias)
            for _ in range(3):
                assert_near(layer(on_device), F.conv2d, image, filters * scale, bias)


def test_products_are_allowed_apart():
    a, b = torch.randn(200, 300), torch.randn(300, 400)
    exact = a.npu() @ b.npu()
    torch.npu.matmul.allow_hf32 = True
    try:
        assert torch.npu.config.allow_tf32 is False  # convolutions may not
        assert_near(a.npu() @ b.npu(), torch.matmul, a, b)
    finally:
        torch.npu.matmul.allow_hf32 = False
    assert torch.equal(a.npu() @ b.npu(), exact)
