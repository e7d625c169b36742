"""Groups, options, works, routes: what surrounds the collectives."""

import copy
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

import torch_npu
from torch_npu.utils import explain

DEVICE = torch.device("npu")


def _backend(group=None):
    return (group or dist.group.WORLD)._get_backend(DEVICE)


def both_backends():
    """Gloo serves CPU tensors, hccl npu tensors, with one default group."""
    assert dist.get_backend_config()
    assert "hccl" in dist.get_backend_config()
    for device in ("cpu", "npu"):
        tensor = torch.full((3,), float(dist.get_rank()), device=device)
        dist.all_reduce(tensor)
        assert tensor.tolist() == [float(sum(range(dist.get_world_size())))] * 3
    assert _backend().name() == "hccl"


def routes():
    """Each collective of npu tensors calls HCCL and nothing of Gloo."""
    tensor, ranks = torch.ones(4, device="npu"), dist.get_world_size()
    whole = torch.ones(4 * ranks, device="npu")
    parts = list(whole.split(4))
    root = dist.get_rank() == 0
    alone = dist.new_group(backend="hccl")
    expected = {
        "HcclAllReduce": lambda: dist.all_reduce(tensor),
        "HcclBroadcast": lambda: dist.broadcast(tensor, 0),
        "HcclReduce": lambda: dist.reduce(tensor, 0),
        "HcclAllGather": lambda: dist.all_gather_into_tensor(whole, tensor),
        "HcclReduceScatter": lambda: dist.reduce_scatter_tensor(tensor, whole),
        "HcclScatter": lambda: dist.scatter(tensor, parts if root else None),
        "HcclAlltoAll": lambda: dist.all_to_all_single(whole, whole.clone()),
        "HcclAlltoAllV": lambda: dist.gather(tensor, parts if root else None),
        # A group that has Gloo, too, has a barrier of its processes.
        "HcclBarrier": lambda: dist.barrier(group=alone),
    }
    for function, call in expected.items():
        before = dict(torch_npu._C._distributed_c10d.hccl_calls()).get(function, 0)
        explained = explain(call)
        kernels = [row.kernel for row in explained.rows if row.route == "HCCL"]
        assert kernels == [function], (function, explained)
        assert dict(torch_npu._C._distributed_c10d.hccl_calls())[function] == before + 1
    dist.destroy_process_group(alone)


def profiled():
    """The profiler has each call under the name that c10d's backends give it."""
    tensor = torch.ones(4, device="npu")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        dist.all_reduce(tensor, async_op=True).wait()
        dist.broadcast(tensor, 0)
    events = {event.name: event for event in profiler.events()}
    assert events["hccl:all_reduce"].is_async
    assert "hccl:broadcast" in events


def new_groups():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for backend in ("hccl", "cpu:gloo,npu:hccl", None):
        alone = [dist.new_group([r], backend=backend) for r in range(ranks)]
        reversed_group = dist.new_group(list(range(ranks)), backend=backend, group_desc="all")
        tensor = torch.full((2,), float(rank + 1), device="npu")
        dist.all_reduce(tensor, group=alone[rank])
        assert tensor.tolist() == [rank + 1.0] * 2
        dist.all_reduce(tensor, group=reversed_group)
        assert tensor.tolist() == [sum(range(1, ranks + 1))] * 2
        for group in (*alone, reversed_group):
            if group is not dist.GroupMember.NON_GROUP_MEMBER:
                dist.destroy_process_group(group)


def options():
    created = dist.ProcessGroupHCCL.Options()
    created.is_high_priority_stream = True
    created.hccl_config = {"hccl_buffer_size": 64, "group_name": "a group"}
    created.op_timeout = timedelta(seconds=7)
    copied = copy.deepcopy(created)
    assert copied.hccl_config == created.hccl_config
    assert copied.op_timeout == timedelta(seconds=7)
    group = dist.new_group(backend="hccl", pg_options=created, timeout=timedelta(seconds=50))
    backend = _backend(group)
    assert backend.options._timeout == timedelta(seconds=50)
    assert backend.options.op_timeout == timedelta(seconds=7)
    backend._set_default_timeout(timedelta(seconds=40))
    assert backend.options.op_timeout == timedelta(seconds=40)
    assert dist.ProcessGroupHCCL.Options().op_timeout == timedelta(minutes=30)
    assert backend.get_hccl_comm_name(dist.get_rank(), init_comm=False) == ""
    assert backend.get_hccl_comm_name(dist.get_rank()) == "a group"
    stream = backend.get_coll_stream_id(DEVICE)
    assert stream != torch.npu.current_stream().stream_id
    assert stream == backend._get_stream_id()
    dist.destroy_process_group(group)
    other = dist.new_group(backend="hccl")
    names = [None] * dist.get_world_size()
    dist.all_gather_object(names, _backend(other).get_hccl_comm_name(0))
    assert len(set(names)) == 1
    assert names[0]
    dist.destroy_process_group(other)


def bad_options():
    created = dist.ProcessGroupHCCL.Options()
    created.op_timeout = timedelta(0)
    with pytest.raises(ValueError, match="op_timeout"):
        dist.ProcessGroupHCCL(dist.HashStore(), 0, 1, created)
    for config, text in (
        ({"unknown": 1}, "has no key unknown"),
        ({"hccl_buffer_size": "1"}, "should be int"),
        ({"group_name": 3}, "should be string"),
    ):
        created = dist.ProcessGroupHCCL.Options()
        created.hccl_config = config
        with pytest.raises((TypeError, ValueError), match=text):
            dist.ProcessGroupHCCL(dist.HashStore(), 0, 1, created)


def split():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    world = dist.group.WORLD
    if world.bound_device_id is None:
        world.bound_device_id = torch.device("npu", torch.npu.current_device())
    parent = dist.new_group(backend="hccl", device_id=world.bound_device_id)
    halves = [list(range(ranks // 2)), list(range(ranks // 2, ranks))]
    part = dist.split_group(parent, halves)
    own = halves[0] if rank in halves[0] else halves[1]
    tensor = torch.full((2,), float(rank), device="npu")
    dist.all_reduce(tensor, group=part)
    assert tensor.tolist() == [float(sum(own))] * 2
    assert dist.get_world_size(part) == len(own)
    dist.destroy_process_group(part)
    dist.destroy_process_group(parent)


def works():
    group = dist.new_group(backend="hccl")
    backend = _backend(group)
    assert backend._get_sequence_number_for_group() == 0
    tensor = torch.ones(1 << 16, device="npu")
    work = dist.all_reduce(tensor, group=group, async_op=True)
    future = work.get_future()
    doubled = future.then(lambda done: done.value()[0] * 2)
    work.wait()
    torch.npu.synchronize()
    assert work.is_completed()
    assert work.is_success()
    assert work.exception() is None
    assert backend._get_sequence_number_for_group() == 1
    ranks = dist.get_world_size()
    assert doubled.wait().unique().tolist() == [2.0 * ranks]
    assert work.result()[0].data_ptr() == tensor.data_ptr()
    assert dist.all_reduce(tensor, group=group, async_op=True).wait(timedelta(seconds=60))
    assert tensor.unique().tolist() == [float(ranks * ranks)]
    dist.destroy_process_group(group)


def memory_of_unwaited_work():
    """A tensor that is freed while its collective runs is not given to others too early."""
    ranks = dist.get_world_size()
    kept = []
    for round_ in range(20):
        tensor = torch.full((1 << 18,), float(round_), device="npu")
        output = torch.empty(ranks << 18, device="npu")
        work = dist.all_gather_into_tensor(output, tensor, async_op=True)
        del tensor
        torch.full((1 << 18,), -1.0, device="npu")
        kept.append((work, output, round_))
    for work, output, round_ in kept:
        work.wait()
        assert output.eq(round_).all().item()
    output = None
    for round_ in range(20):
        tensor = torch.full((1 << 18,), float(round_), device="npu")
        dist.all_reduce(tensor, async_op=True)
        del tensor
        assert torch.full((1 << 18,), -1.0, device="npu").eq(-1).all().item()
    dist.barrier()


def streams():
    """Collectives come after the caller's work and before what follows a wait, on any stream."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stream = torch.npu.Stream()
    total = sum(range(ranks))
    for size in (8, 1 << 20):
        for asynchronous in (False, True):
            tensor = torch.zeros(size, device="npu")
            stream.wait_stream(torch.npu.current_stream())
            with torch.npu.stream(stream):
                tensor.add_(rank)
                work = dist.all_reduce(tensor, async_op=asynchronous)
                if asynchronous:
                    work.wait()
                tensor.mul_(2)
            torch.npu.current_stream().wait_stream(stream)
            assert tensor.unique().tolist() == [2.0 * total]


def many():
    """Many collectives of random kinds, dtypes and sizes on several streams and two groups, against the CPU."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    generator = torch.Generator().manual_seed(11)
    groups = [None, dist.new_group(backend="hccl")]
    streams = [torch.npu.Stream() for _ in range(3)]
    dtypes = (torch.float32, torch.int64, torch.float16)
    pending = []
    for index in range(200):
        kind, group, stream, dtype = (
            int(torch.randint(0, n, (), generator=generator)) for n in (3, 2, 3, 3)
        )
        size = int(torch.randint(1, 3000, (), generator=generator)) * ranks
        own = torch.full((size,), (rank + index) % 5, dtype=dtypes[dtype])
        with torch.npu.stream(streams[stream]):
            tensor = own.npu()
            if kind == 0:
                work = dist.all_reduce(tensor, group=groups[group], async_op=True)
                result, expected = tensor, sum((r + index) % 5 for r in range(ranks))
            elif kind == 1:
                work = dist.broadcast(tensor, index % ranks, group=groups[group], async_op=True)
                result, expected = tensor, (index % ranks + index) % 5
            else:
                result = torch.empty(size // ranks, dtype=dtypes[dtype], device="npu")
                work = dist.reduce_scatter_tensor(
                    result, tensor, group=groups[group], async_op=True
                )
                expected = sum((r + index) % 5 for r in range(ranks))
            pending.append((work, result, expected, streams[stream], tensor))
    for work, result, expected, stream, _ in pending:
        with torch.npu.stream(stream):
            work.wait()
            assert result.unique().tolist() == [expected]
    dist.destroy_process_group(groups[1])


def many_groups():
    for _ in range(12):
        group = dist.new_group(backend="hccl")
        tensor = torch.ones(4, device="npu")
        dist.all_reduce(tensor, group=group)
        dist.destroy_process_group(group)
    assert tensor.tolist() == [float(dist.get_world_size())] * 4


def ended_group():
    group = dist.new_group(backend="hccl")
    backend = _backend(group)
    tensor = torch.ones(2, device="npu")
    dist.all_reduce(tensor, group=group)
    torch.npu.synchronize()
    dist.barrier()
    torch_npu.distributed.reinit_process_group(group)
    dist.all_reduce(tensor, group=group)
    assert tensor.tolist() == [float(dist.get_world_size() ** 2)] * 2
    dist.barrier()
    backend.abort()
    with pytest.raises(dist.DistBackendError, match="aborted"):
        dist.all_reduce(tensor, group=group)
    dist.destroy_process_group(group)
    dist.barrier()
