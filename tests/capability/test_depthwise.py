"""Convolutions of each channel on its own: sizes, strides, paddings and dilations around the width of vectors, in memory
between NaN."""

import random

import pytest
import torch

# What a float32 sum of products may differ from its exact value: a rounding per product and addition.
EPS = torch.finfo(torch.float32).eps


def _between_nan(t, gap):
    """A copy of ``t`` on npu whose rows lie ``gap`` elements apart, with NaN around."""
    widened = torch.full((*t.shape[:-1], t.shape[-1] + gap), float("nan"))
    start = gap // 2
    widened[..., start : start + t.shape[-1]] = t
    return widened.npu()[..., start : start + t.shape[-1]]


def _case(choose):
    kernel = [choose.choice((1, 2, 3, 5, 7)), choose.choice((1, 2, 3, 5, 7))]
    stride = [choose.choice((1, 1, 2, 3)), choose.choice((1, 1, 2, 3, 4))]
    dilation = [choose.choice((1, 1, 2)), choose.choice((1, 1, 2, 3))]
    padding = [choose.randrange(0, 4), choose.randrange(0, 9)]
    least = [
        max(1, (k - 1) * d + 1 - 2 * p) for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    size = [
        least[0] + choose.randrange(0, 9),
        least[1] + choose.choice((0, 1, 6, 7, 8, 9, 15, 16, 17, 31, 33, 70, 300, 1200)),
    ]
    return {
        "batch": choose.choice((1, 2, 3)),
        "channels": choose.choice((2, 3, 8)),
        "copies": choose.choice((1, 1, 2)),
        "size": size,
        "kernel": kernel,
        "bias": choose.random() < 0.5,
        "gap": choose.choice((0, 0, 6)),
        "how": {"stride": stride, "dilation": dilation, "padding": padding},
    }


def _bound(x, w, how, groups):
    taps = w.shape[-1] * w.shape[-2]
    magnitude = torch.nn.functional.conv2d(x.abs(), w.abs(), None, **how, groups=groups)
    return (taps + 2) * EPS * magnitude + 1e-30


@pytest.mark.parametrize("seed", range(60))
def test_forward_and_gradients(seed):
    choose = random.Random(seed)
    case = _case(choose)
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    channels, out = case["channels"], case["channels"] * case["copies"]
    x, w = draw(case["batch"], channels, *case["size"]), draw(out, 1, *case["kernel"])
    b = draw(out) if case["bias"] else None
    how = case["how"]
    exact_x = x.double().requires_grad_()
    exact = torch.nn.functional.conv2d(
        exact_x, w.double(), None if b is None else b.double(), **how, groups=channels
    )
    on_npu = _between_nan(x, case["gap"]).requires_grad_()
    result = torch.nn.functional.conv2d(
        on_npu, w.npu(), None if b is None else b.npu(), **how, groups=channels
    )
    bound = _bound(x.double(), w.double(), how, channels)
    if b is not None:
        bound += EPS * b.double().abs()[:, None, None]
    assert (result.detach().cpu().double() - exact.detach()).abs().le(bound).all(), case

    grad = draw(*exact.shape)
    (expected,) = torch.autograd.grad(exact, exact_x, grad.double())
    (actual,) = torch.autograd.grad(result, on_npu, _between_nan(grad, case["gap"]))
    positive = x.double().requires_grad_()
    (magnitude,) = torch.autograd.grad(
        torch.nn.functional.conv2d(positive, w.double().abs(), None, **how, groups=channels),
        positive,
        grad.double().abs(),
    )
    terms = case["kernel"][0] * case["kernel"][1] * case["copies"]
    bound = (terms + 2) * EPS * magnitude + 1e-30
    assert (actual.cpu().double() - expected).abs().le(bound).all(), case


def test_infinities_and_nan_stay_in_their_windows():
    x = torch.zeros(1, 2, 5, 40)
    x[0, 0, 2, 20] = float("inf")
    w = torch.ones(2, 1, 3, 3)
    result = torch.nn.functional.conv2d(x.npu(), w.npu(), padding=1, groups=2).cpu()
    expected = torch.nn.functional.conv2d(x, w, padding=1, groups=2)
    assert torch.equal(result, expected)
