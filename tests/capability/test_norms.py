"""torch.nn.functional.rms_norm, which has its own kernels, against its definition in float64."""

import pytest
import torch
from torch.autograd import forward_ad
from torch.nn import functional as F

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
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

    widened = [leaf.detach().cpu().double().requires_grad_() for leaf in leaves]
    expected = definition(widened[0], widened[1] if is_weighted else None, 1e-3)
    expected.backward(gradient.double())
    eps = torch.finfo(dtype).eps
    for found, wanted, terms in [
        (out, expected, 1),
        (leaves[0].grad, widened[0].grad, 40),
        *([(leaves[1].grad, widened[1].grad, 24)] if is_weighted else []),
    ]:
        bound = (4 + terms**0.5) * eps * wanted.abs().max()
        assert found.dtype == dtype
        accuracy.assert_close(found, wanted, Tolerance(absolute=bound), equal_nan=False)


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_group_norm_reads_weights_of_any_strides(dtype):
    def weights(device):
        torch.manual_seed(0)
        x = torch.randn(2, 6, 4, dtype=dtype).to(device).requires_grad_()
        weight = torch.randn(1, dtype=dtype).to(device).expand(6)
        bias = torch.randn(12, dtype=dtype).to(device)[::2]
        return x, weight, bias

    def result(device, *, dense):
        x, weight, bias = weights(device)
        if dense:
            weight, bias = weight.contiguous(), bias.contiguous()
        y, mean, rstd = torch.native_group_norm(x, weight, bias, 2, 6, 4, 3, 1e-5)
        grads = torch.ops.aten.native_group_norm_backward(
            torch.ones_like(y), x, mean.expand(2, 3), rstd, weight, 2, 6, 4, 3, [True, True, True]
        )
        return [t.detach().cpu() for t in (y, *grads)]

    # The CPU's kernels read weights with gaps as if they were dense: its dense results are the reference.
    for expected, actual in zip(result("cpu", dense=True), result("npu", dense=False), strict=True):
        torch.testing.assert_close(actual, expected)


def test_gradients_of_two_types_promote():
    grad, x = torch.randn(10).half(), torch.randn(10).bfloat16()
    for name in ("hardswish_backward", "mish_backward"):
        function = getattr(torch.ops.aten, name)
        expected = function(grad, x)
        actual = function(grad.npu(), x.npu())
        assert actual.dtype == expected.dtype
        torch.testing.assert_close(actual.cpu(), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_an_embedding_refuses_indices_out_of_range(dtype):
    grad = torch.ones(4, 3, dtype=dtype, device="npu")
    indices = torch.tensor([0, 9, 2, 1], device="npu")
    with pytest.raises(IndexError, match="index 9 is out of range"):
        torch.ops.aten.embedding_dense_backward(grad, indices, 9, -1, True).cpu()
