"""torch.npu.random: seeds and states of the devices' generators."""

import fresh
import pytest
import torch


def both(*names):
    return pytest.mark.api(
        *(f"torch.npu.{part}{name}" for name in names for part in ("", "random."))
    )


@pytest.fixture(autouse=True)
def state_stays():
    state = torch.npu.get_rng_state_all()
    yield
    torch.npu.set_rng_state_all(state)


def draw():
    return torch.rand(8, device="npu").tolist()


@both("manual_seed", "initial_seed")
def test_a_seed_repeats_the_numbers():
    torch.npu.manual_seed(7)
    assert torch.npu.initial_seed() == 7
    first = draw()
    assert draw() != first
    torch.npu.manual_seed(7)
    assert draw() == first
    torch.npu.manual_seed(8)
    assert draw() != first


@both("seed", "seed_all")
def test_a_random_seed_changes_the_numbers():
    for seed in (torch.npu.seed, torch.npu.seed_all):
        torch.npu.manual_seed(7)
        first = draw()
        seed()
        assert torch.npu.initial_seed() != 7
        assert draw() != first


@both("get_rng_state", "set_rng_state")
def test_a_state_repeats_the_numbers():
    draw()
    for device in ("npu", "npu:0", 0, torch.device("npu")):
        state = torch.npu.get_rng_state(device)
        assert (state.dtype, state.device.type) == (torch.uint8, "cpu")
        first = draw()
        torch.npu.set_rng_state(state, device)
        assert draw() == first
    with pytest.raises((RuntimeError, TypeError)):
        torch.npu.set_rng_state(torch.zeros(3, dtype=torch.uint8))


ALL = """
import torch
def draw():
    return [torch.rand(4, device=f"npu:{i}").tolist() for i in range(2)]
torch.npu.manual_seed_all(3)
first = draw()
assert first[0] == first[1]
torch.npu.manual_seed_all(3)
assert draw() == first
states = torch.npu.get_rng_state_all()
assert len(states) == 2
second = draw()
torch.npu.set_rng_state_all(states)
assert draw() == second != first
torch.npu.seed_all()
assert draw()[1] != first[1]
torch.npu.manual_seed(3)
one = draw()
assert one[0] == first[0] and one[1] != first[1]
print("done")
"""


@both("manual_seed_all", "get_rng_state_all", "set_rng_state_all", "seed_all")
def test_all_devices_are_seeded():
    with pytest.raises(RuntimeError, match="Invalid NPU device index npu:99"):
        torch.Generator("npu:99")
    assert fresh.output(ALL, SOFTNPU_DEVICE_COUNT="2", SOFTNPU_HBM="1G") == "done"
