"""FSDP2, DTensor, checkpoints and collectives with gradients on two processes; cases on four."""

import pytest

NAMES = (
    "fsdp",
    "fsdp_without_reshard",
    "fsdp_mixed_precision",
    "fsdp_offload",
    "fsdp_clip",
    "fsdp_state_dict",
    "checkpoint",
    "dtensor",
    "dtensor_random",
    "tensor_parallel",
    "attention",
    "npu_operators",
    "functional_collectives",
    "gradients",
)


@pytest.mark.parametrize("name", NAMES)
def test_two(two, name):
    two.run(f"sharded.{name}")


@pytest.mark.parametrize(
    "name", ["fsdp", "dtensor", "attention", "npu_operators", "mesh_of_two_dimensions", "gradients"]
)
def test_four(four, name):
    four.run(f"sharded.{name}")
