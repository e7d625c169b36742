"""torch.nn.functional.rms_norm, which has kernels of its own, against its definition in float64."""

import pytest
import torch
from torch.autograd import forward_ad
from torch.nn import functional as F

from torch_npu.utils import explain


def definition(x, weight, eps):
    y = x.double() * torch.rsqrt(x.double().square().mean((-2, -1), keepdim=True) + eps)
    return y if weight is None else y * weight.double()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("is_weighted", [True, False])
@pytest.mark.parametrize("is_strided", [True, False])
def test_rms_norm(dtype, is_weighted, is_strided):
    torch.manual_seed(0)
    x = torch.randn(4, 6, 5, 8).to(dtype)
    x = x.transpose(0, 1) if is_strided else x
    leaves = [x.npu().requires_grad_()]
    leaves += [torch.randn(5, 8).to(dtype).npu().requires_grad_()] if is_weighted else []
    weight = leaves[1] if is_weighted else None
    explanation = explain(F.rms_norm, leaves[0], (5, 8), weight, 1e-3)
    assert explanation.calls("AI CPU") == explanation.synchronizations == 0
    assert explanation.calls(operator="aten::_fused_rms_norm") == 1
    out = explanation.result
    gradient = torch.randn(out.shape).to(dtype)
    out.backward(gradient.npu())

    wide = [leaf.detach().cpu().double().requires_grad_() for leaf in leaves]
    expected = definition(wide[0], wide[1] if is_weighted else None, 1e-3)
    expected.backward(gradient.double())
    eps = torch.finfo(dtype).eps
    for found, wanted, terms in [
        (out, expected, 1),
        (leaves[0].grad, wide[0].grad, 40),
        *([(leaves[1].grad, wide[1].grad, 24)] if is_weighted else []),
    ]:
        scale = wanted.abs().max().item()
        assert found.dtype == dtype
        assert (found.cpu().double() - wanted).abs().max().item() <= (4 + terms**0.5) * eps * scale


def test_second_derivatives_and_tangents():
    x = torch.randn(3, 4, dtype=torch.float64, device="npu", requires_grad=True)
    weight = torch.randn(4, dtype=torch.float64, device="npu", requires_grad=True)
    call = lambda a, w: F.rms_norm(a, (4,), w, 1e-3)  # noqa: E731
    assert torch.autograd.gradcheck(call, (x, weight), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, (x, weight))
    half = torch.randn(3, 4, device="npu").half()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(half, torch.ones_like(half))
        assert forward_ad.unpack_dual(F.rms_norm(dual, (4,))).tangent.dtype == torch.float16


def test_no_rows():
    x = torch.zeros(0, 4, device="npu", requires_grad=True)
    F.rms_norm(x, (4,)).sum().backward()
    assert x.grad.shape == (0, 4)
    with pytest.raises(RuntimeError, match="normalized_shape"):
        F.rms_norm(torch.zeros(2, 4, device="npu"), (3,))
