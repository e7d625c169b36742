"""Collectives in captured graphs."""

import pytest
import torch
import torch.distributed as dist


def _captured(work):
    work()
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        result = work()
    return graph, result


def collectives():
    """Small and large ones between other work, in several replays, with eager calls between them."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = torch.zeros(64 * ranks, device="npu")
    big = torch.zeros(1 << 18, device="npu")
    parts = [torch.empty(64 * ranks, device="npu") for _ in range(ranks)]
    scattered = torch.empty(64, device="npu")
    exchanged = torch.empty(64 * ranks, device="npu")

    def work():
        doubled = x * 2
        dist.all_reduce(doubled)
        total = big + 1
        dist.all_reduce(total, op=dist.ReduceOp.MAX)
        dist.all_gather(parts, doubled + rank)
        dist.reduce_scatter_tensor(scattered, x)
        dist.all_to_all_single(exchanged, x)
        sent = x + 1
        dist.broadcast(sent, src=ranks - 1)
        return doubled, total, sent

    graph, (doubled, total, sent) = _captured(work)
    for i in range(4):
        x.fill_(i + rank)
        big.fill_(10 * i + rank)
        graph.replay()
        between = torch.ones(3, device="npu")
        dist.all_reduce(between)  # numbered with those of the replays
        everywhere = [i + r for r in range(ranks)]
        assert (doubled == 2 * sum(everywhere)).all()
        assert (total == 10 * i + ranks).all()
        for r, part in enumerate(parts):
            assert (part == 2 * sum(everywhere) + r).all()
        assert (scattered == sum(everywhere)).all()
        assert (exchanged.reshape(ranks, 64).cpu() == torch.tensor(everywhere).reshape(-1, 1)).all()
        assert (sent == i + ranks).all()
        assert (between == ranks).all()


def point_to_point():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x, y = torch.zeros(1000, device="npu"), torch.empty(1000, device="npu")

    def work():
        calls = [
            dist.P2POp(dist.isend, x, (rank + 1) % ranks),
            dist.P2POp(dist.irecv, y, (rank - 1) % ranks),
        ]
        for call in dist.batch_isend_irecv(calls):
            call.wait()
        return y + 1

    graph, result = _captured(work)
    for i in range(3):
        x.fill_(10 * i + rank)
        graph.replay()
        assert (result == 10 * i + (rank - 1) % ranks + 1).all()


def many_replays():
    """Queued replays without a wait between them."""
    ranks = dist.get_world_size()
    x = torch.ones(256, device="npu")

    def work():
        dist.all_reduce(x)
        x.div_(ranks)

    graph, _ = _captured(work)
    for _ in range(200):
        graph.replay()
    assert (x == 1).all()


def a_destroyed_communicator():
    """A replay after it is refused, with one sentence; nothing hangs."""
    group = dist.new_group(list(range(dist.get_world_size())))
    x = torch.ones(4, device="npu")
    graph, _ = _captured(lambda: dist.all_reduce(x, group=group))
    graph.replay()
    torch.npu.synchronize()
    dist.destroy_process_group(group)
    with pytest.raises(RuntimeError, match="communicator of the captured call was destroyed"):
        graph.replay()
