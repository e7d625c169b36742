import pytest
import torch

import torch_npu
from torch_npu import accuracy


def test_seed_repeats():
    torch.manual_seed(5)
    a = torch.randn(100, device="npu")
    b = torch.randn(100, device="npu")
    torch.manual_seed(5)
    assert torch.equal(a, torch.randn(100, device="npu"))
    assert torch.equal(b, torch.randn(100, device="npu"))
    assert not torch.equal(a, b)


def test_state_is_seed_and_offset():
    torch.npu.manual_seed(7)
    state = torch.npu.get_rng_state()
    assert state.numel() == 16
    assert state.view(torch.int64).tolist() == [7, 0]
    a = torch.rand(10, device="npu")
    torch.npu.set_rng_state(state)
    assert torch.equal(a, torch.rand(10, device="npu"))
    with pytest.raises(RuntimeError, match="16 bytes"):
        torch.npu.set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_own_generator():
    generator = torch.Generator("npu").manual_seed(3)
    a = torch.rand(10, device="npu", generator=generator)
    generator.manual_seed(3)
    assert torch.equal(a, torch.rand(10, device="npu", generator=generator))
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator"):
        torch.rand(10, device="npu", generator=torch.Generator())


def test_dropout_follows_the_npu_seed_and_leaves_the_cpu_alone():
    x = torch.ones(1000, device="npu")
    torch.manual_seed(1)
    cpu_first = torch.rand(3)
    torch.manual_seed(1)
    a = torch.nn.functional.dropout(x)
    assert torch.equal(torch.rand(3), cpu_first)
    torch.manual_seed(1)
    assert torch.equal(a, torch.nn.functional.dropout(x))


def test_moments():
    x = torch.randn(1 << 16, device="npu").double()
    n = x.numel()
    assert abs(x.mean().item()) < 6 / n**0.5
    assert abs(x.std().item() - 1) < 6 / (2 * n) ** 0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.uint8, torch.float64])
def test_bernoulli(dtype):
    torch.manual_seed(2)
    x = torch.empty(100_000, dtype=dtype, device="npu").bernoulli_(0.3)
    share = x.double().mean().item()
    assert abs(share - 0.3) < 6 * (0.3 * 0.7 / x.numel()) ** 0.5
    assert x.double().unique().tolist() == [0, 1]
    generator = torch.Generator("npu").manual_seed(2)
    again = torch.empty(100_000, dtype=dtype, device="npu").bernoulli_(0.3, generator=generator)
    assert torch.equal(again, x)
    strided = torch.zeros(50, 4, dtype=dtype, device="npu")
    strided[:, ::2].bernoulli_(1.0)
    assert strided.double().sum(0).tolist() == [50, 0, 50, 0]
    with pytest.raises(RuntimeError, match=r"p to be in \[0, 1\], but got p=1.5"):
        x.bernoulli_(1.5)
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator"):
        x.bernoulli_(0.5, generator=torch.Generator())


def test_dropout_scales_what_it_keeps():
    x = torch.randn(300, 200, device="npu", requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.2)
    kept = y != 0
    accuracy.assert_close(y[kept], x[kept] / 0.8, equal_nan=False)
    assert abs(kept.double().mean().item() - 0.8) < 6 * (0.2 * 0.8 / x.numel()) ** 0.5
    y.sum().backward()
    accuracy.assert_close(x.grad, kept / 0.8, equal_nan=False)
    assert torch.equal(torch.nn.functional.dropout(x, 0.0), x)
    assert torch.nn.functional.dropout(x, 1.0).abs().sum() == 0
    assert torch.nn.functional.dropout(x, 0.5, training=False) is x


def test_dropout_keeps_the_layout_and_has_one_mask_in_all():
    x = torch.randn(4, 6, 5, 3, device="npu").to(memory_format=torch.channels_last)
    y, mask = torch.native_dropout(x, 0.5, True)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert mask.stride() == y.stride()
    assert torch.equal(y, x * mask * 2)
    grad = torch.randn(4, 6, 5, 3, device="npu")  # another layout than the mask
    assert torch.equal(torch.ops.aten.native_dropout_backward(grad, mask, 2.0), grad * mask * 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
@pytest.mark.parametrize("mask_dtype", [torch.bool, torch.uint8, torch.float32])
def test_masked_scale(dtype, mask_dtype):
    x = torch.randn(7, 9, device="npu").to(dtype)
    mask = (torch.rand(7, 9, device="npu") < 0.5).to(mask_dtype)
    assert torch.equal(torch._masked_scale(x, mask, 1.25), x * mask * 1.25)
    assert torch.equal(torch._masked_scale(x[::2, 1:], mask[::2, 1:], 3.0), (x * mask * 3)[::2, 1:])
    with pytest.raises(RuntimeError, match="same device"):
        torch._masked_scale(x, mask.cpu(), 1.0)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64])
def test_a_masked_scale_of_integers_is_a_float(dtype):
    x = torch.ones(5, dtype=dtype, device="npu")
    y = torch.ops.aten.native_dropout_backward(x, x.bool(), 0.5)
    assert y.dtype == torch.float32
    assert y.tolist() == [0.5] * 5


DRAWS = {
    "normal_": lambda x: x.normal_(1, 2),
    "uniform_": lambda x: x.uniform_(-1, 3),
    "exponential_": lambda x: x.exponential_(0.5),
    "random_": lambda x: x.random_(-5, 6),
}
# Mean and standard deviation by definition.
MOMENTS = {
    "normal_": (1, 2),
    "uniform_": (1, 4 / 12**0.5),
    "exponential_": (2, 2),
    "random_": (0, (120 / 12) ** 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_distributions_are_drawn_on_the_device(name, dtype):
    dtype = torch.int32 if name == "random_" else dtype
    x = torch.empty(1 << 18, dtype=dtype, device="npu")
    torch.manual_seed(4)
    explanation = torch_npu.utils.explain(DRAWS[name], x)
    assert explanation.routes() == {"aclnn": 1}
    assert explanation.synchronizations == 0
    mean, deviation = MOMENTS[name]
    widened = x.double()
    # Six standard errors, and one rounding of the type per number.
    rounding = 0 if dtype == torch.int32 else torch.finfo(dtype).eps
    bound = 6 * deviation / x.numel() ** 0.5 + rounding * (abs(mean) + deviation)
    assert abs(widened.mean().item() - mean) < bound
    assert abs(widened.std().item() / deviation - 1) < 6 / x.numel() ** 0.5 * 3 + rounding
    torch.manual_seed(4)
    again = DRAWS[name](torch.empty_like(x))
    assert torch.equal(again, x)


def test_random_integers_and_permutations():
    torch.manual_seed(0)
    x = torch.randint(3, 10, (10_000,), device="npu")
    assert x.unique().tolist() == list(range(3, 10))
    order = torch.randperm(1000, device="npu")
    assert torch.equal(order.sort().values.cpu(), torch.arange(1000))
    assert not torch.equal(order.cpu(), torch.arange(1000))
    shares = torch.tensor([0.1, 0.2, 0.7], device="npu")
    drawn = torch.multinomial(shares, 100_000, replacement=True).bincount() / 100_000
    assert (drawn - shares).abs().max().item() < 6 * (0.7 * 0.3 / 100_000) ** 0.5
    rows = torch.multinomial(torch.ones(50, 20, device="npu"), 20)
    assert torch.equal(rows.sort(1).values.cpu(), torch.arange(20).expand(50, 20))


def test_invalid_ranges_are_refused():
    bytes_ = torch.empty(3, dtype=torch.uint8, device="npu")
    with pytest.raises(RuntimeError, match="out of bounds for unsigned char"):
        bytes_.random_(0, 1000)
    with pytest.raises(RuntimeError, match="range"):
        torch.empty(3, device="npu").uniform_(2, 1)
    with pytest.raises(RuntimeError, match="std"):
        torch.empty(3, device="npu").normal_(0, -1)
    with pytest.raises(RuntimeError, match=r"sum to one|prob"):
        torch.multinomial(torch.ones(3, device="npu"), 5)
