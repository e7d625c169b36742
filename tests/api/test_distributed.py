"""torch_npu.distributed, with a group of one process; tests/distributed has groups of several."""

import pytest
import torch
import torch.distributed as dist

import torch_npu.distributed as module


@pytest.fixture
def group():
    dist.init_process_group("hccl", store=dist.HashStore(), rank=0, world_size=1)
    yield dist.group.WORLD
    dist.destroy_process_group()


@pytest.mark.api("torch_npu.distributed.is_hccl_available")
def test_hccl_is_available():
    assert module.is_hccl_available() is True
    assert dist.is_hccl_available()
    assert module.is_available()
    assert dist.Backend.default_device_backend_map["npu"] == "hccl"


def test_modules():
    from torch.distributed.fsdp import fully_shard

    assert module.fsdp.fully_shard is fully_shard
    assert module.nn.functional.all_gather
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = module.absent


@pytest.mark.api("torch_npu.distributed.reinit_process_group")
def test_reinit(group):
    tensor = torch.ones(2, device="npu")
    dist.all_reduce(tensor)
    backend = group._get_backend(torch.device("npu"))
    before = backend.get_hccl_comm_name(0)
    torch.npu.synchronize()  # work in flight would fail
    assert module.reinit_process_group() is group
    dist.all_reduce(tensor)
    assert backend.get_hccl_comm_name(0) != before
    assert tensor.tolist() == [1.0, 1.0]
    with pytest.raises(NotImplementedError, match="rebuild_link"):
        module.reinit_process_group(group, rebuild_link=False)


@pytest.mark.api("torch_npu.distributed.reduce_scatter_tensor_uneven")
def test_reduce_scatter_uneven(group):
    output = torch.empty(3, 2, device="npu")
    given = torch.arange(6.0, device="npu").view(3, 2)
    work = module.reduce_scatter_tensor_uneven(output, given, [3], async_op=True)
    work.wait()
    assert torch.equal(output, given)
    with pytest.raises(ValueError, match="output is on cpu"):
        module.reduce_scatter_tensor_uneven(output.cpu(), given)
    with pytest.raises(ValueError, match="Split sizes"):
        module.reduce_scatter_tensor_uneven(output, given, [2])


@pytest.mark.api("torch_npu.distributed.all_gather_into_tensor_uneven")
def test_all_gather_uneven(group):
    output = torch.empty(3, 2, device="npu")
    given = torch.arange(6.0, device="npu").view(3, 2)
    assert module.all_gather_into_tensor_uneven(output, given, [3]) is None
    assert torch.equal(output, given)
    with pytest.raises(ValueError, match="input is on cpu"):
        module.all_gather_into_tensor_uneven(output, given.cpu())


@pytest.mark.api("torch_npu.distributed.all_to_all_vc")
def test_all_to_all_vc(group):
    output = torch.empty(6, device="npu")
    given = torch.arange(6.0, device="npu")
    module.all_to_all_vc(output, given, [[6]])
    assert torch.equal(output, given)
    with pytest.raises(ValueError, match="square"):
        module.all_to_all_vc(output, given, [[3, 3]])
    with pytest.raises(ValueError, match="row 0"):
        module.all_to_all_vc(output, given, [[5]])


def test_a_tensor_on_the_cpu_has_no_backend(group):
    with pytest.raises(RuntimeError, match="No backend type associated with device type cpu"):
        dist.all_reduce(torch.ones(2))


def test_options_of_another_backend():
    with pytest.raises(TypeError, match=r"ProcessGroupHCCL\.Options"):
        dist.init_process_group(
            "hccl", store=dist.HashStore(), rank=0, world_size=1, pg_options=object()
        )


def test_a_variable_that_is_not_understood(monkeypatch):
    monkeypatch.setenv("TORCH_HCCL_ASYNC_ERROR_HANDLING", "4")
    with pytest.raises(ValueError, match="it takes 0 to 3"):
        dist.init_process_group("hccl", store=dist.HashStore(), rank=0, world_size=1)
