"""torch_npu.ops: the fused block against separate layers, the filter against its definition."""

import doctest

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck

import torch_npu
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.utils import explain

SEPIA = torch.tensor(
    [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]], dtype=torch.float64
)


class Separate(nn.Module):
    """The same layers one by one."""

    def __init__(self, **options: object) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 16, 3, padding=1, **options)
        self.bn = nn.BatchNorm2d(16)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.bn(self.conv(x)))


def _pair(**options: object) -> tuple[Separate, nn.Module]:
    torch.manual_seed(0)
    separate = Separate(**options)
    nn.init.uniform_(separate.bn.weight, 0.5, 2)
    nn.init.normal_(separate.bn.bias)
    fused = torch_npu.ops.fused_conv_bn_relu(8, 16, 3, padding=1, **options)
    fused.load_state_dict(separate.state_dict())
    return separate, fused.npu()


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"groups": 2}], ids=str)
def test_the_fused_block_equals_its_layers(options):
    """In training and in eval, with gradients and running statistics; 1.5e-5 for outputs of a few units."""
    separate, fused = _pair(**options)
    for step in range(4):
        if step == 2:
            separate.eval()
            fused.eval()
        x = torch.randn(4, 8, 10, 12)
        both = [(separate, x.clone().requires_grad_()), (fused, x.npu().requires_grad_())]
        outs = [layer(image) for layer, image in both]
        accuracy.assert_close(outs[1], outs[0], Tolerance(absolute=1.5e-5), equal_nan=False)
        slope = torch.randn(outs[0].shape)
        for (layer, _), out in zip(both, outs, strict=True):
            layer.zero_grad()
            out.backward(slope.to(out.device))
        pairs = [(x.grad, y.grad) for (_, x), (_, y) in [both]]
        named = dict(fused.named_parameters())
        pairs += [(p.grad, named[name].grad) for name, p in separate.named_parameters()]
        pairs += [(separate.bn.running_var, fused.bn.running_var)]
        for wanted, found in pairs:
            # Sums of 480 products, which may cancel: those of the convolution's bias do.
            bound = 480 * torch.finfo(torch.float32).eps * wanted.abs().max().clamp(min=8)
            accuracy.assert_close(found, wanted, Tolerance(absolute=bound), equal_nan=False)


def test_in_eval_the_block_is_one_convolution():
    """Batch norm does not run, and nothing runs on the host."""
    _, fused = _pair()
    fused.eval()
    x = torch.randn(2, 8, 6, 6, device="npu")
    with torch.no_grad():
        explanation = explain(fused, x)
    assert explanation.calls(operator="aten::_convolution") == 1
    assert explanation.calls(operator="aten::native_batch_norm") == 0
    assert explanation.calls("AI CPU") == explanation.synchronizations == 0


def test_the_example_runs():
    found = doctest.testmod(torch_npu.ops.conv, extraglobs={"torch_npu": torch_npu})
    assert (found.attempted, found.failed) == (2, 0)


def test_unsuitable_layers_are_refused():
    with pytest.raises(ValueError, match="gives 4 channels, and the batch norm takes 8"):
        torch_npu.ops.FusedConvBnRelu(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(8))


class Filter(torch.autograd.Function):
    """The filter as an autograd function."""

    @staticmethod
    def forward(ctx, image):
        ctx.save_for_backward(image)
        return torch_npu.ops.sepia_filter_forward(image)

    @staticmethod
    def backward(ctx, grad):
        (image,) = ctx.saved_tensors
        return torch_npu.ops.sepia_filter_backward(grad, image)


@pytest.mark.parametrize("call", [torch_npu.ops.sepia_filter_forward, Filter.apply])
@pytest.mark.parametrize("shape", [(4, 3, 6, 5), (1, 1, 2, 2), (3, 7, 4)], ids=str)
def test_sepia(shape, call):
    torch.manual_seed(0)
    image = torch.randn(shape, dtype=torch.float64, device="npu", requires_grad=True)
    three = image.detach().cpu().expand(*shape[:-3], 3, *shape[-2:])
    expected = torch.einsum("oc,...chw->...ohw", SEPIA, three)
    torch.testing.assert_close(call(image).detach().cpu(), expected)
    assert gradcheck(call, image)


def test_other_shapes_are_refused():
    with pytest.raises(RuntimeError, match="with 1 or 3 channels"):
        torch_npu.ops.sepia_filter_forward(torch.zeros(2, 2, 4, 4, device="npu"))
