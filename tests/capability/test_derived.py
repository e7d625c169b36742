"""Quantized and nested tensors: storages with more state than sizes and strides."""

import pytest
import torch

from torch_npu import accuracy


@pytest.mark.parametrize("per_channel", [False, True])
def test_quantized(per_channel):
    x = torch.randn(4, 3)

    def quantize(t):
        if not per_channel:
            return torch.quantize_per_tensor(t, 0.1, 3, torch.qint8)
        scales = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64, device=t.device)
        zeros = torch.arange(4, device=t.device)
        return torch.quantize_per_channel(t, scales, zeros, 0, torch.quint8)

    on_cpu, on_npu = quantize(x), quantize(x.npu())
    assert (on_npu.device.type, on_npu.dtype) == ("npu", on_cpu.dtype)
    for _ in range(3):  # the quantizer outlives the tensors that use it
        assert torch.equal(on_npu.int_repr().cpu(), on_cpu.int_repr())
        assert torch.equal(on_npu.dequantize().cpu(), on_cpu.dequantize())
        assert "device='npu:0'" in repr(on_npu)
    if per_channel:
        assert torch.equal(on_npu.q_per_channel_scales().cpu(), on_cpu.q_per_channel_scales())
        assert torch.equal(
            on_npu.q_per_channel_zero_points().cpu(), on_cpu.q_per_channel_zero_points()
        )
    assert torch.equal(on_npu.clone().dequantize().cpu(), on_cpu.dequantize())


NESTED = {
    "mul": lambda t: t * 2,
    "add": lambda t: t + t,
    "relu": lambda t: t.relu(),
    "softmax": lambda t: t.softmax(-1),
    "padded": lambda t: torch.nested.to_padded_tensor(t, 0.0),
    "linear": lambda t: torch.nn.functional.linear(t, torch.ones(5, 3, device=t.device)),
    "transpose": lambda t: t.transpose(1, 2),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested(name):
    parts = [torch.randn(2, 3), torch.randn(4, 3)]
    expected = NESTED[name](torch.nested.nested_tensor(parts))
    actual = NESTED[name](torch.nested.nested_tensor(parts, device="npu"))
    assert (actual.device.type, actual.is_nested) == ("npu", expected.is_nested)
    pairs = zip(actual.unbind(), expected.unbind(), strict=True)
    for a, e in pairs:
        torch.testing.assert_close(a.cpu(), e)


def test_nested_of_jagged_layout():
    parts = [torch.randn(2, 3), torch.randn(4, 3)]
    nested = torch.nested.nested_tensor(parts, device="npu", layout=torch.jagged)
    accuracy.assert_close((nested * 2).values().cpu(), 2 * torch.cat(parts), equal_nan=False)


def test_nested_shapes_are_the_hosts():
    """A result keeps its shapes although the memory that a kernel allocated for them may be reused."""
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], device="npu") * 2
    sizes = nested._nested_tensor_size()
    assert sizes.device.type == "cpu"
    del sizes
    others = [torch.full((2, 2), 7, device="npu") for _ in range(8)]
    assert nested._nested_tensor_size().tolist() == [[2, 3], [4, 3]]
    assert nested._nested_tensor_strides().tolist() == [[3, 1], [3, 1]]
    assert nested._nested_tensor_storage_offsets().tolist() == [0, 6]
    assert all((t == 7).all() for t in others)


def test_gradient_of_nested():
    parts = [torch.ones(2, 3), torch.ones(4, 3)]
    nested = torch.nested.nested_tensor(parts, device="npu").requires_grad_()
    sum((part * i).sum() for i, part in enumerate((nested * 3).unbind(), 1)).backward()
    gradients = [g.cpu() for g in nested.grad.unbind()]
    assert torch.equal(gradients[0], torch.full((2, 3), 3.0))
    assert torch.equal(gradients[1], torch.full((4, 3), 6.0))
