"""Sends and receives that no collective of their group precedes, in orders that block where connecting blocks."""

import torch
import torch.distributed as dist


def _tensor(value: float) -> torch.Tensor:
    return torch.full((5,), float(value), device="npu")


def _check(works: list, received: dict[int, torch.Tensor], own: int) -> None:
    """``received`` is by the rank that sent it: 10 times its rank, and this one's."""
    for work in works:
        work.wait()
    for peer, tensor in received.items():
        assert tensor.tolist() == [10.0 * peer + own] * 5, peer


def ring():
    """Each rank sends to the next one before it receives from the one before."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group(backend="hccl")
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    output = torch.empty(5, device="npu")
    works = [dist.isend(_tensor(10 * rank + right), right, group=group)]
    works.append(dist.irecv(output, left, group=group))
    _check(works, {left: output}, rank)
    dist.destroy_process_group(group)


def any_order():
    """All pairs, in another order on each rank, two transfers each way."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group(backend="hccl")
    generator = torch.Generator().manual_seed(rank)
    for _ in range(2):
        calls = [(peer, sends) for peer in range(ranks) for sends in (True, False) if peer != rank]
        received, works = {}, []
        for index in torch.randperm(len(calls), generator=generator).tolist():
            peer, sends = calls[index]
            if sends:
                works.append(dist.isend(_tensor(10 * rank + peer), peer, group=group))
            else:
                received[peer] = torch.empty(5, device="npu")
                works.append(dist.irecv(received[peer], peer, group=group))
        _check(works, received, rank)
    dist.destroy_process_group(group)


def returns_at_once():
    """A send returns, and its rank goes on to other groups, before the receiver calls."""
    rank = dist.get_rank()
    group = dist.new_group(backend="hccl")
    output = torch.empty(5, device="npu")
    works = []
    if rank == 0:
        works.append(dist.isend(_tensor(1), 1, group=group))
        assert not works[0].is_completed()
    dist.all_reduce(torch.zeros(1))  # by Gloo
    if rank == 1:
        works.append(dist.irecv(output, 0, group=group))
    _check(works, {0: output} if rank == 1 else {}, rank)
    dist.destroy_process_group(group)


def across_a_collective():
    """The first collective comes after the send on one rank, before the receive on the other."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group(backend="hccl")
    output, ones = torch.empty(5, device="npu"), torch.ones(3, device="npu")
    works = [dist.isend(_tensor(1), 1, group=group)] if rank == 0 else []
    dist.all_reduce(ones, group=group)
    assert ones.tolist() == [float(ranks)] * 3
    if rank == 1:
        works.append(dist.irecv(output, 0, group=group))
    _check(works, {0: output} if rank == 1 else {}, rank)
    dist.destroy_process_group(group)


def batches():
    """A ring in batches, then a batch of the first and the last rank alone."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group(backend="hccl")
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    output = torch.empty(5, device="npu")
    batch = [dist.P2POp(dist.isend, _tensor(10 * rank + right), right, group)]
    batch.append(dist.P2POp(dist.irecv, output, left, group))
    _check(dist.batch_isend_irecv(batch), {left: output}, rank)
    if rank in (0, ranks - 1):
        peer = ranks - 1 - rank
        batch = [dist.P2POp(dist.irecv, output, peer, group)]
        batch.append(dist.P2POp(dist.isend, _tensor(10 * rank + peer), peer, group))
        _check(dist.batch_isend_irecv(batch), {peer: output}, rank)
    dist.destroy_process_group(group)


def after_reset():
    """Communicators that are given back connect again."""
    import torch_npu

    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group(backend="hccl")
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    for _ in range(3):
        output = torch.empty(5, device="npu")
        works = [dist.isend(_tensor(10 * rank + right), right, group=group)]
        works.append(dist.irecv(output, left, group=group))
        _check(works, {left: output}, rank)
        torch.npu.synchronize()
        dist.barrier()
        torch_npu.distributed.reinit_process_group(group)
    dist.destroy_process_group(group)
