"""HF32 as three products of bfloat16, as on CPUs with AMX; SOFTNPU_SPLIT=1 enables it on every CPU."""

import fresh
import pytest

PROGRAM = """
import torch
import torch.nn.functional as F

torch.manual_seed(0)
torch.npu.matmul.allow_hf32 = True
assert torch.npu.conv.allow_hf32


def check(name, work, *values):
    found = work(*(v.npu() for v in values)).cpu().double()
    wide = [v.double() for v in values]
    magnitude = work(*(v.abs() for v in wide))
    error = (found - work(*wide)).abs()
    exact = (work(*values).double() - work(*wide)).abs().sum()
    # Each term loses less than 2^-15; a sum of n terms in float32 rounds n times.
    bound = (2**-15 + 2**-24 * 2 * values[0].numel() ** 0.5) * magnitude
    assert (error <= bound).all(), (name, (error / bound).max())
    assert error.sum() > 2 * exact, (name, "was not split")


def input_gradient(grad, filters, size, **options):
    image = grad.new_zeros(size, requires_grad=True)
    return torch.autograd.grad(F.conv2d(image, filters, **options), image, grad)[0]


def filter_gradient(image, grad, size, **options):
    filters = grad.new_zeros(size, requires_grad=True)
    return torch.autograd.grad(F.conv2d(image, filters, **options), filters, grad)[0]


def normal(*size):
    return torch.randn(*size) * torch.rand(size).mul(16).sub(8).exp2()


def strided(x):
    return x.transpose(0, 1).contiguous().transpose(0, 1)


for layout in (lambda x: x, strided, lambda x: F.pad(x, (1, 2))[..., 1:-2]):
    a, b = layout(normal(70, 90)), layout(normal(90, 130))
    check("mm", torch.mm, a, b)
    check("addmm", lambda s, x, y: torch.addmm(s, x, y, beta=0.5, alpha=2), normal(70, 130), a, b)
    check("linear", lambda x, w, s: F.linear(x, w, s), a, layout(normal(80, 90)), normal(80))
    check("bmm", torch.bmm, layout(normal(3, 70, 90)), layout(normal(3, 90, 64)))
last = lambda x: x.contiguous(memory_format=torch.channels_last)
for layout in (lambda x: x, last, strided):
    image, filters, bias = layout(normal(3, 24, 13, 11)), layout(normal(40, 24, 3, 3)), normal(40)
    for options in ({}, {"padding": 1, "stride": 2}, {"dilation": 2}):
        check("conv2d", lambda x, w, s: F.conv2d(x, w, s, **options), image, filters, bias)
        grad = layout(normal(*F.conv2d(image, filters, **options).shape))
        check("input", lambda g, w: input_gradient(g, w, image.shape, **options), grad, filters)
        check("weight", lambda x, g: filter_gradient(x, g, filters.shape, **options), image, grad)
    check("transposed", lambda x, w, s: F.conv_transpose2d(x, w, s, stride=2), layout(normal(2, 24, 9, 7)),
          layout(normal(24, 20, 3, 3)), normal(20))
check("conv1d", F.conv1d, normal(2, 20, 33), normal(24, 20, 5), normal(24))
check("conv3d", F.conv3d, normal(2, 20, 7, 8, 9), normal(24, 20, 3, 3, 3), normal(24))

# What is not finite is what it is in float32, and the largest numbers stay finite.
inf, nan, most = float("inf"), float("nan"), torch.finfo(torch.float32).max
for x, y in [(inf, 2.0), (inf, 0.1), (-inf, inf), (inf, 0.0), (nan, 1.0), (inf, nan), (most, 0.1), (most, 1.0)]:
    a, b = torch.zeros(64, 64), torch.zeros(64, 64)
    a[3, 5], b[5, 7] = x, y
    for p, q in ((a, b), (b.t(), a.t())):
        found, expected = (p.npu() @ q.npu()).cpu(), p @ q
        assert torch.allclose(found, expected, rtol=2**-15, atol=0, equal_nan=True), (x, y)

# A filter that is written is split anew.
layer = torch.nn.Conv2d(32, 32, 1).npu()
image = normal(2, 32, 30, 30)
for scale in (1, 3):
    with torch.no_grad():
        layer.weight.fill_(scale)
        layer.bias.zero_()
        for _ in range(3):
            expected = image.double().sum(1, keepdim=True) * scale
            error = (layer(image.npu()).cpu().double() - expected).abs()
            assert (error <= 2**-15 * scale * image.double().abs().sum(1, keepdim=True)).all()
"""


@pytest.mark.parametrize("capability", ["default", "avx2"])
def test_split_products_lose_less_than_hf32(capability: str):
    fresh.output(PROGRAM, SOFTNPU_SPLIT="1", SOFTNPU_CPU_CAPABILITY=capability)
