"""torch.nn.functional.scaled_dot_product_attention by the fused operator, against its definition in float64."""

import math

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from torch_npu.utils import explain

FUSED = "aten::_scaled_dot_product_fused_attention_overrideable"


def definition(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None
) -> Tensor:
    """softmax(scale q k' + mask) v; 0 for queries that see nothing."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, 1) for x in (k, v))
    scores = q @ k.mT * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is None or mask.dtype != torch.bool:
        return (scores if mask is None else scores + mask).softmax(-1) @ v
    least = -1e300  # not -inf, whose differences have no derivative
    return scores.where(mask, least).softmax(-1) * mask.any(-1, keepdim=True) @ v


def _mask(kind: str, b: int, h: int, s: int, t: int) -> Tensor | None:
    if kind == "bool":
        return torch.rand(b, 1, s, t) > 0.3
    if kind == "rows that see nothing":
        return (torch.arange(s) % 3 > 0)[:, None].expand(s, t)
    if kind == "bias":
        return torch.randn(b, h, s, t)
    if kind == "bias of the keys":
        return torch.randn(b, 1, 1, t)
    return None


# batch, heads, heads of keys, queries, keys, channels
SHAPES = [(2, 4, 4, 70, 130, 64), (1, 4, 2, 65, 65, 40), (2, 6, 1, 1, 200, 32), (1, 1, 1, 3, 5, 7)]  # fmt: skip
MASKS = ["none", "causal", "bool", "rows that see nothing", "bias", "bias of the keys"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward_and_backward(shape, kind, dtype):
    torch.manual_seed(0)
    b, h, g, s, t, d = shape
    # As projections leave them: [batch, positions, heads, channels], seen with the heads first.
    leaves = [torch.randn(b, n, heads, d).to(dtype).transpose(1, 2) for n, heads in ((s, h), (t, g), (t, g))]  # fmt: skip
    mask = _mask(kind, b, h, s, t)
    mask = mask.to(dtype) if mask is not None and mask.is_floating_point() else mask
    is_causal = kind == "causal"
    scale = 0.3 if kind == "bias" else None
    npu = [x.npu().requires_grad_() for x in leaves]
    explanation = explain(
        F.scaled_dot_product_attention, *npu, None if mask is None else mask.npu(), 0.0, is_causal,
        scale=scale, enable_gqa=h != g,
    )  # fmt: skip
    assert explanation.calls(operator=FUSED) == 1
    assert explanation.calls("AI CPU") == explanation.synchronizations == 0
    out = explanation.result
    assert out.transpose(1, 2).is_contiguous()  # heads are joined without a copy
    gradient = torch.randn(b, h, s, d).to(dtype)
    out.backward(gradient.npu())

    wide = [x.double().requires_grad_() for x in leaves]
    wide_mask = mask.double() if mask is not None and mask.is_floating_point() else mask
    expected = definition(*wide, wide_mask, is_causal, scale)
    expected.backward(gradient.double())
    eps = torch.finfo(dtype).eps
    assert_near(out, expected, eps)
    for found, wanted in zip(npu, wide, strict=True):
        assert_near(found.grad, wanted.grad, eps)


def assert_near(found: Tensor, wanted: Tensor, eps: float) -> None:
    """A few roundings in the tensors' type, and those in float32 of sums of some hundred terms."""
    scale = wanted.abs().max().item()
    bound = (4 * eps + 300 * torch.finfo(torch.float32).eps) * max(scale, 1)
    assert not found.isnan().any()
    assert (found.detach().cpu().double() - wanted).abs().max().item() <= bound


def _inputs(dtype: torch.dtype = torch.float32, **options: bool) -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(1, 2, 4, 8, dtype=dtype, device="npu", **options) for _ in range(3)]


def _calls(call) -> int:
    return explain(call).calls(operator=FUSED)


def test_what_goes_another_way():
    q, k, v = _inputs()
    attention = F.scaled_dot_product_attention
    assert _calls(lambda: attention(q, k, v)) == 1
    assert _calls(lambda: attention(*_inputs(torch.float64))) == 0
    assert _calls(lambda: attention(q, k, v, dropout_p=0.5)) == 0
    assert _calls(lambda: attention(q, k, v[..., :4])) == 0
    mask = torch.zeros(4, 4, device="npu", requires_grad=True)
    assert _calls(lambda: attention(q, k, v, mask)) == 0
    with sdpa_kernel(SDPBackend.MATH):
        assert _calls(lambda: attention(q, k, v)) == 0


def test_derivatives_that_the_fused_operator_has_not():
    double = _inputs(torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(F.scaled_dot_product_attention, double, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(F.scaled_dot_product_attention, double)
    q, k, v = _inputs()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(q, torch.ones_like(q))
        tangent = forward_ad.unpack_dual(F.scaled_dot_product_attention(dual, k, v)).tangent
        assert tangent.shape == q.shape


def test_the_gradient_of_a_bias_by_the_operator_itself():
    """PyTorch asks for it only where it is called without its choice of ways."""
    q, k, v = _inputs()
    bias = torch.randn(1, 2, 4, 4, device="npu", requires_grad=True)
    out = torch.ops.aten._scaled_dot_product_fused_attention_overrideable(q, k, v, bias)[0]
    out.sum().backward()
    wide = [x.detach().cpu().double() for x in (q, k, v, bias)]
    wide[3].requires_grad_()
    definition(*wide, False, None).sum().backward()
    assert_near(bias.grad, wide[3].grad, torch.finfo(torch.float32).eps)


def test_what_the_operator_does_not_take_is_an_error():
    q, k, v = _inputs()
    operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
    with pytest.raises(RuntimeError, match="Double"):
        operator(*_inputs(torch.float64))
    with pytest.raises(RuntimeError, match="no dropout"):
        operator(q, k, v, dropout_p=0.1)
    with pytest.raises(RuntimeError, match="a bias of the same type"):
        operator(q, k, v, torch.zeros(3, 3, device="npu"))
