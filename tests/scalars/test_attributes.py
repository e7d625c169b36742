"""Attributes of operators in float64: none of them is rounded to float32."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

ATEN = torch.ops.aten
# Numbers that float32 cannot represent.
A, B = 0.7, 1 / 3


def _numbers(*sizes: int) -> torch.Tensor:
    """Numbers of both signs, the same in every run."""
    count = torch.Size(sizes).numel()
    return (torch.arange(count, dtype=torch.float64) * 0.37 % 2 - 0.9).reshape(sizes)


def _batch_norm(device: str, training: bool) -> list[torch.Tensor]:
    x = _numbers(3, 4, 5).to(device)
    mean, var = _numbers(4).to(device), _numbers(4).square().to(device)
    return [F.batch_norm(x, mean, var, training=training, momentum=A, eps=B), mean, var]


def _gradients(call: Callable[..., torch.Tensor], device: str, *tensors: torch.Tensor) -> tuple:
    leaves = [t.to(device).requires_grad_() for t in tensors]
    return torch.autograd.grad(call(*leaves).pow(3).sum(), leaves)


def _resize(mode: str, dims: int, device: str, **kwargs: bool) -> list[torch.Tensor]:
    sizes = (2, 3, 7, 6, 5)[: 2 + dims]
    found = []
    # The last scale keeps sizes or doubles them, depending on the size. PyTorch's antialiasing then does not resize,
    # but
    # its gradient does: the test below covers that.
    by_chance = () if kwargs else ((1.1, 1.1, 2.1)[-dims:],)
    for factor in (1.7, 0.6, (0.7, 2.3, 1.3)[:dims], *by_chance):
        for dtype in (torch.float64, torch.float32):
            x = _numbers(*sizes).to(device, dtype).requires_grad_()
            y = F.interpolate(x, scale_factor=factor, mode=mode, **kwargs)
            found += [y, *torch.autograd.grad(y.sum(), [x])]
    return found


CASES = {
    "smooth_l1_loss": lambda d: F.smooth_l1_loss(
        _numbers(9).to(d), 0.2 * _numbers(9).to(d), beta=A, reduction="none"
    ),
    "smooth_l1_loss_backward": lambda d: _gradients(
        lambda x: F.smooth_l1_loss(x, 0 * x, beta=A), d, _numbers(9)
    ),
    "batch_norm": lambda d: _batch_norm(d, training=True),
    "batch_norm-eval": lambda d: _batch_norm(d, training=False),
    "batch_norm_backward": lambda d: _gradients(
        lambda x: F.batch_norm(x, None, None, training=True, eps=B), d, _numbers(3, 4, 5)
    ),
    "layer_norm": lambda d: F.layer_norm(_numbers(3, 8).to(d), (8,), eps=B),
    "layer_norm_backward": lambda d: _gradients(
        lambda x: F.layer_norm(x, (8,), eps=B), d, _numbers(3, 8)
    ),
    "group_norm": lambda d: F.group_norm(_numbers(2, 4, 5).to(d), 2, eps=B),
    "instance_norm": lambda d: F.instance_norm(_numbers(2, 4, 5).to(d), eps=B),
    "rms_norm": lambda d: F.rms_norm(_numbers(3, 8).to(d), (8,), eps=B),
    "rms_norm_backward": lambda d: _gradients(lambda x: F.rms_norm(x, (8,), eps=B), d, _numbers(3, 8)),
    "linalg_vector_norm": lambda d: torch.linalg.vector_norm(_numbers(9).to(d), A),
    "_foreach_norm": lambda d: torch._foreach_norm([_numbers(9).to(d)], A),
    "nan_to_num": lambda d: torch.nan_to_num(_numbers(9).log().to(d), A, B, A),
    "logit": lambda d: torch.logit(_numbers(9).to(d), 0.1),
    "normal_": lambda d: torch.empty(9, dtype=torch.float64, device=d).normal_(A, 0.0),
    "uniform_": lambda d: torch.empty(9, dtype=torch.float64, device=d).uniform_(A, A),
    "cdist": lambda d: torch.cdist(_numbers(3, 4).to(d), _numbers(2, 4).to(d), p=A),
    "renorm": lambda d: torch.renorm(_numbers(3, 4).to(d), A, 0, B),
    "pairwise_distance": lambda d: F.pairwise_distance(_numbers(3, 4).to(d), _numbers(3, 4).to(d).flip(0), A, B),
    "cosine_similarity": lambda d: F.cosine_similarity(_numbers(3, 4).to(d), _numbers(3, 4).to(d).flip(0), eps=B),
    "huber_loss": lambda d: F.huber_loss(_numbers(9).to(d), 0 * _numbers(9).to(d), delta=A),
    "isclose": lambda d: torch.isclose(_numbers(9).to(d), _numbers(9).to(d) + A, rtol=0.0, atol=A),
    "linspace": lambda d: torch.linspace(A, 5 + B, 11, dtype=torch.float64, device=d),
    "logspace": lambda d: torch.logspace(A, B, 11, base=A, dtype=torch.float64, device=d),
    "arange": lambda d: torch.arange(A, 9 + B, B, dtype=torch.float64, device=d),
    "histc": lambda d: torch.histc(_numbers(99).to(d), 7, -A, A),
    **{
        f"upsample-{mode}{dims}d{'-antialias' * antialias}": (
            lambda d, mode=mode, dims=dims, antialias=antialias: _resize(
                mode, dims, d, **({"antialias": True} if antialias else {})
            )
        )
        for mode, dims, antialias in (
            ("nearest", 1, False), ("nearest", 2, False), ("nearest", 3, False), ("nearest-exact", 1, False),
            ("nearest-exact", 2, False), ("nearest-exact", 3, False), ("linear", 1, False), ("bilinear", 2, False),
            ("bicubic", 2, False), ("trilinear", 3, False), ("bilinear", 2, True), ("bicubic", 2, True),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_attributes_are_not_rounded_to_float32(name: str) -> None:
    expected, actual = CASES[name]("cpu"), CASES[name]("npu")
    flat = [[t] if isinstance(t, torch.Tensor) else list(t) for t in (expected, actual)]
    for e, a in zip(*flat, strict=True):
        widened = e.dtype == torch.float64
        tolerance = {"rtol": 1e-14, "atol": 1e-14} if widened else {"rtol": 1e-5, "atol": 1e-5}
        torch.testing.assert_close(a.detach().cpu(), e.detach(), equal_nan=True, **tolerance)


@pytest.mark.parametrize("p", [0.3, 0.7])
def test_factor_of_dropout(p: float) -> None:
    x = _numbers(64).npu()
    y = F.dropout(x, p)
    accuracy.assert_close(
        y, torch.where(y == 0, 0.0, x / (1 - p)), Tolerance(1e-15), equal_nan=False
    )


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialiasing_of_an_unchanged_size(mode: str) -> None:
    """The image is unchanged; the gradient is that of an unchanged image, but the CPU's is that of a resized one."""
    x = _numbers(1, 2, 7, 6).npu().requires_grad_()
    y = F.interpolate(x, scale_factor=(1.1, 1.0), mode=mode, antialias=True)
    assert torch.equal(
        y.cpu(), F.interpolate(x.cpu(), scale_factor=(1.1, 1.0), mode=mode, antialias=True)
    )
    assert torch.equal(torch.autograd.grad(y.sum(), [x])[0], torch.ones_like(x))
