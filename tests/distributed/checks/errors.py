"""Bad calls: each raises at the call, on each rank, and the group goes on."""

import re

import pytest
import torch
import torch.distributed as dist

DEVICE = torch.device("npu")


def _raises(kinds, text, call):
    with pytest.raises(kinds, match=re.escape(text)):
        call()


def bad_tensors():
    ranks = dist.get_world_size()
    backend = dist.group.WORLD._get_backend(DEVICE)
    tensor = torch.ones(4, 4, device="npu")
    holes = tensor[:, ::2]
    _raises(ValueError, "must be contiguous", lambda: dist.all_reduce(holes))
    _raises(ValueError, "NPU and dense", lambda: backend.allreduce([torch.ones(2)]).wait())
    _raises(ValueError, "one tensor only", lambda: backend.allreduce([tensor, tensor]).wait())
    for sparse in (torch.eye(3).to_sparse().npu(), torch.eye(3).to_sparse_csr().npu()):
        _raises(NotImplementedError, "sparse", lambda sparse=sparse: dist.all_reduce(sparse))
    whole = torch.ones(4 * ranks, 4, device="npu")
    _raises(
        ValueError,
        "world_size times input tensor size",
        lambda: dist.all_gather_into_tensor(whole[:-1].contiguous(), tensor),
    )
    _raises(
        TypeError,
        "same type",
        lambda: dist.all_gather_into_tensor(whole.half(), tensor),
    )
    _raises(
        ValueError,
        "output size times world size",
        lambda: dist.reduce_scatter_tensor(tensor[:3].contiguous(), whole),
    )
    _raises(
        ValueError,
        "Split sizes doesn't match",
        lambda: dist.all_to_all_single(whole, whole.clone(), [1] * ranks, [1] * ranks),
    )
    rank = dist.get_rank()
    _raises(ValueError, "its own peer only in a batch", lambda: dist.isend(tensor, rank))
    send = dist.P2POp(dist.isend, tensor, rank)
    receive = dist.P2POp(dist.irecv, whole, rank)
    _raises(
        ValueError,
        "receives what it sends to itself",
        lambda: dist.batch_isend_irecv([send, receive]),
    )
    _raises(
        ValueError,
        "only the root rank 0 passes a list" if rank else "the list has 1 tensors",
        lambda: backend.scatter([tensor], [[tensor]], dist.ScatterOptions()).wait(),
    )
    _raises(
        ValueError,
        "2 outputs and 1 inputs",
        lambda: dist.group.WORLD.allgather_into_tensor_coalesced([whole, whole], [tensor]),
    )
    _raises(
        ValueError,
        "Number of tensor splits",
        lambda: dist.all_to_all_single(whole, whole.clone(), [1], [1]),
    )


def bad_operations():
    tensor = torch.ones(4, dtype=torch.int32, device="npu")
    for name in ("BAND", "BOR", "BXOR"):
        operation = getattr(dist.ReduceOp, name)
        _raises(
            ValueError,
            f"Cannot use ReduceOp.{name} with HCCL",
            lambda operation=operation: dist.all_reduce(tensor, operation),
        )
    _raises(TypeError, "bool", lambda: dist.all_reduce(tensor.bool(), dist.ReduceOp.AVG))
    _raises(ValueError, "complex", lambda: dist.all_reduce(tensor.cfloat(), dist.ReduceOp.MAX))
    eights = torch.ones(4, device="npu").to(torch.float8_e4m3fn)
    _raises((TypeError, RuntimeError), "8", lambda: dist.all_reduce(eights))
    _raises(NotImplementedError, "recv from any rank", lambda: dist.recv(tensor))
    rank = dist.get_rank()
    _raises(ValueError, "", lambda: dist.send(tensor, rank))


def works_after_all():
    tensor = torch.ones(4, device="npu")
    dist.all_reduce(tensor)
    assert tensor.tolist() == [float(dist.get_world_size())] * 4
