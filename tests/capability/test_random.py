import pytest
import torch


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
