"""One rank of ``test_distributed.py``: prints the losses of a training as JSON, after it has checked collectives."""

import json
import os

import torch
import torch.distributed as dist
from torch import nn

import torch_npu  # noqa: F401 - the device

_STEPS = 5
_BATCH = 24


def _losses() -> list[float]:
    """Trains on this rank's part of the data; the losses are those of all parts."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).npu()
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    numbers = torch.Generator().manual_seed(1)
    inputs = torch.randn(_BATCH, 16, generator=numbers).chunk(ranks)[rank].npu()
    wanted = torch.randn(_BATCH, 4, generator=numbers).chunk(ranks)[rank].npu()
    losses = []
    for _ in range(_STEPS):
        loss = nn.functional.mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        losses.append(total.item() / ranks)
    return losses


def _check_collectives() -> None:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    own = torch.full((3,), float(rank), device="npu")
    everybody = [torch.empty_like(own) for _ in range(ranks)]
    dist.all_gather(everybody, own)
    assert [part[0].item() for part in everybody] == list(range(ranks))
    part = torch.empty(2, device="npu")
    dist.reduce_scatter_tensor(part, torch.arange(2.0 * ranks, device="npu"))
    assert part.tolist() == [ranks * 2.0 * rank, ranks * (2.0 * rank + 1)]
    shared = own.clone()
    dist.broadcast(shared, ranks - 1)
    assert shared[0].item() == ranks - 1
    received = torch.empty(ranks, device="npu")
    dist.all_to_all_single(received, torch.arange(float(ranks), device="npu") + 100 * rank)
    assert received.tolist() == [rank + 100.0 * other for other in range(ranks)]
    dist.reduce(shared, 0, op=dist.ReduceOp.MAX)
    given = [torch.full((2,), float(i), device="npu") for i in range(ranks)] if rank == 0 else None
    dist.scatter(part, given, src=0)
    assert part[0].item() == rank
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, own, after), dist.P2POp(dist.irecv, shared, before)]
    )
    for work in works:
        work.wait()
    assert shared[0].item() == before
    flag = torch.full((1,), rank, dtype=torch.int64, device="npu")
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    assert flag.item() == ranks - 1
    dist.barrier()


if __name__ == "__main__":
    torch.npu.set_device(0)
    torch.npu.set_compile_mode(jit_compile=False)
    dist.init_process_group("hccl")
    if dist.get_world_size() > 1:
        _check_collectives()
    printed = json.dumps(_losses())
    dist.barrier()
    dist.destroy_process_group()
    print("losses", printed, os.getpid(), flush=True)
