"""The kernel attention, against float64."""

import math

import pytest
import torch

from torch_npu.ascendc.kernels import attention

from .against import RTOL, name_of
from .products import assert_sums_close


def _reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    shared = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(shared, 1) for t in (k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool)
        scores = scores.masked_fill(hidden.triu(k.shape[2] - q.shape[2] + 1), -torch.inf)
    return scores.softmax(-1) @ v


def _inputs(shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    batches, heads, key_heads, queries, keys, size = shape
    generator = torch.Generator().manual_seed(7)
    sizes = ((batches, heads, queries, size), *[(batches, key_heads, keys, size)] * 2)
    return [torch.randn(s, generator=generator).to(dtype) for s in sizes]


SHAPES = [
    (1, 1, 1, 1, 1, 1),
    (2, 3, 3, 65, 130, 16),
    (1, 4, 2, 64, 128, 64),
    (1, 2, 1, 20, 300, 40),
    (1, 1, 1, 200, 200, 128),
    (2, 2, 2, 3, 17, 7),
]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize("shape", SHAPES, ids=name_of)
def test_result(shape, dtype, causal):
    q, k, v = _inputs(shape, dtype)
    y = attention(q.npu(), k.npu(), v.npu(), causal=causal)
    widened = [t.double() for t in (q, k, v)]
    assert y.dtype == dtype
    largest = v.double().abs().amax()
    # Weights, whose sum is 1, are rounded to the values' type.
    rounding = torch.finfo(dtype).eps * largest
    depth = shape[-1] + shape[-2]
    of_step = 2 * (depth + 4) * torch.finfo(torch.float32).eps
    assert_sums_close(y, _reference(*widened, causal), largest + rounding / of_step, depth, 2)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [0.0, -0.5, 1e-50, 3.0])
def test_any_finite_scale(scale, causal):
    """Keys that a tile lacks have no weight, whatever the scale."""
    q, k, v = _inputs((1, 2, 1, 5, 5, 16), torch.float32)
    y = attention(q.npu(), k.npu(), v.npu(), causal=causal, scale=scale)
    factor = scale * math.sqrt(q.shape[-1])
    expected = _reference(factor * q.double(), k.double(), v.double(), causal)
    assert_sums_close(y, expected, v.double().abs().amax() * 8, 21, 2)


def test_scores_below_all_maxima():
    q = torch.full((1, 1, 1, 16), 1e16)
    y = attention(q.npu(), (-q).npu(), torch.ones_like(q).npu())
    assert torch.equal(y.cpu(), torch.ones_like(q))


def test_scale_beyond_float32():
    q = torch.ones(1, 1, 1, 16, device="npu")
    with pytest.raises(ValueError, match="finite in float32"):
        attention(q, q, q, scale=1e300)


def test_large_scores_do_not_overflow():
    q, k, v = _inputs((1, 1, 1, 70, 300, 32), torch.float32)
    q = 100 * q
    y = attention(q.npu(), k.npu(), v.npu())
    assert_sums_close(
        y, _reference(q.double(), k.double(), v.double(), False), torch.tensor(500.0), 332, 2
    )


@pytest.mark.parametrize("causal", [False, True])
def test_gradients(causal):
    tensors = _inputs((1, 4, 2, 33, 40, 16), torch.float32)
    given = [t.npu().requires_grad_() for t in tensors]
    widened = [t.double().requires_grad_() for t in tensors]
    grad = torch.randn(1, 4, 33, 16)
    attention(*given, causal=causal).backward(grad.npu())
    _reference(*widened, causal).backward(grad.double())
    for tensor, reference in zip(given, widened, strict=True):
        assert_sums_close(tensor.grad, reference.grad, torch.tensor(50.0).double(), 100)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda q, k, v: attention(q[0], k, v), "batches by heads by positions by size"),
        (lambda q, k, v: attention(q, k[:, :, 1:], v), "k and v alike"),
        (lambda q, k, v: attention(q, k[:, :0], v[:, :0]), "no size may be 0"),
        (lambda q, k, v: attention(q[:, :3], k, v), "k's heads divide q's"),
        (lambda q, k, v: attention(q, k[:, :, :2], v[:, :, :2], causal=True), "have no result"),
        (lambda q, k, v: attention(q, k, v, scale=math.inf), "it has to be finite"),
    ],
)
def test_wrong_input_is_one_error(change, words):
    q, k = torch.ones(1, 4, 5, 8, device="npu"), torch.ones(1, 2, 6, 8, device="npu")
    with pytest.raises(ValueError, match=words):
        change(q, k, k)
