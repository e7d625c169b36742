"""Strides of results: dense and in the order of PyTorch's rules, whatever the strides of the arguments."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance


def test_gradients_of_expanded_keys():
    def gradients(device: str) -> list[Tensor]:
        torch.manual_seed(0)
        query = torch.randn(1, 4, 5, 8).to(device).requires_grad_()
        leaf = torch.randn(1, 1, 5, 8).to(device).requires_grad_()
        key = leaf.expand(1, 4, 5, 8)
        F.scaled_dot_product_attention(query, key, key).sum().backward()
        return [query.grad, leaf.grad]

    for got, expected in zip(gradients("npu"), gradients("cpu"), strict=True):
        accuracy.assert_close(got, expected, Tolerance(1e-5, 1e-5), equal_nan=False)


def test_gradients_of_slices_of_one_projection_take_the_memory_of_their_elements():
    projection = torch.randn(2, 64, 3, 4, 16, device="npu")
    leaves = [x.transpose(1, 2).detach().requires_grad_() for x in projection.unbind(2)]
    out = F.scaled_dot_product_attention(*leaves)
    gradients = torch.autograd.grad(out.sum(), leaves)
    for gradient, leaf in zip(gradients, leaves, strict=True):
        assert gradient.stride() == torch.empty_like(leaf).stride()
        assert gradient.untyped_storage().nbytes() == leaf.numel() * leaf.itemsize


def test_a_bias_gets_a_gradient_in_its_layout():
    query, key, value = (torch.randn(1, 2, 5, 8, device="npu") for _ in range(3))
    bias = torch.randn(1, 2, 5, 5, device="npu").mT
    out, rows, sums, *_ = torch.ops.aten._scaled_dot_product_fused_attention_overrideable(
        query, key, value, bias
    )
    *_, gradient = torch.ops.aten._scaled_dot_product_fused_attention_overrideable_backward(
        torch.ones_like(out), query, key, value, bias, [True] * 4, out, rows, sums,
        torch.empty(0), 5, 5, 0.0, False, torch.empty(0), torch.empty(0),
    )  # fmt: skip
    assert gradient.stride() == bias.stride()


def test_a_flip_keeps_the_memory_order():
    assert torch.ones(5, 3, device="npu").t().flip(0).t().view(-1).tolist() == [1.0] * 15


@pytest.mark.parametrize("transposed", [False, True])
def test_a_result_of_transposed_indices(transposed: bool):
    index = torch.tensor([[0, 2], [1, 0], [2, 2]])
    index = index.t() if transposed else index
    x = torch.arange(12.0).view(3, 4)
    expected, got = x[index], x.npu()[index.npu()]
    assert got.stride() == expected.stride()
    assert torch.equal(got.cpu(), expected)


@pytest.mark.parametrize("is_transposed", [False, True], ids=["convolution", "transposed"])
@pytest.mark.parametrize("last", ["neither", "image", "filter", "both"])
@pytest.mark.parametrize("dims", [1, 2])
def test_convolutions_have_the_channels_where_the_cpu_has_them(dims, last, is_transposed):
    def channels_last(x: Tensor) -> Tensor:
        return x.movedim(1, -1).contiguous().movedim(-1, 1)

    image, weight = torch.randn(2, 4, *[5] * dims), torch.randn(4, 2, *[3] * dims)
    if last in ("image", "both"):
        image = channels_last(image)
    if last in ("filter", "both"):
        weight = channels_last(weight)
    ones = [1] * dims
    arguments = (None, ones, ones, ones, is_transposed, [0] * dims, 2)
    expected = torch.ops.aten.convolution(image, weight, *arguments)
    result = torch.ops.aten.convolution(image.npu(), weight.npu(), *arguments)
    assert result.stride() == expected.stride()
    gradient = torch.randn(expected.shape)
    mask = [True, True, False]
    backward = torch.ops.aten.convolution_backward
    expected = backward(gradient, image, weight, *arguments, mask)[:2]
    results = backward(gradient.npu(), image.npu(), weight.npu(), *arguments, mask)[:2]
    assert [x.stride() for x in results] == [x.stride() for x in expected]
