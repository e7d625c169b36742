"""Every collective with every dtype, against values computed on the CPU."""

import torch
import torch.distributed as dist

from checks.values import COMPLEX, FLOATING, INTEGERS, MOVED, same, value, values

REDUCED = (*FLOATING, *INTEGERS, torch.bool, *COMPLEX)


def _reduced(dtype, op, shape=(3, 5)):
    stacked = torch.stack(values(dtype, shape))
    if dtype is torch.bool:
        return stacked.any(0) if op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX) else stacked.all(0)
    if op == dist.ReduceOp.SUM:
        return stacked.sum(0).to(dtype)
    if op == dist.ReduceOp.AVG:
        total, ranks = stacked.sum(0).to(dtype), len(stacked)
        exact = not (dtype.is_floating_point or dtype.is_complex)
        return torch.div(total, ranks, rounding_mode="trunc" if exact else None).to(dtype)
    if op == dist.ReduceOp.PRODUCT:
        return stacked.prod(0).to(dtype)
    return (stacked.amax(0) if op == dist.ReduceOp.MAX else stacked.amin(0)).to(dtype)


def _pairs():
    names = ("SUM", "AVG", "PRODUCT", "MIN", "MAX")
    for dtype in REDUCED:
        for name in names:
            if dtype.is_complex and name in ("PRODUCT", "MIN", "MAX"):
                continue
            if dtype is torch.bool and name == "AVG":
                continue
            yield dtype, getattr(dist.ReduceOp, name)


def all_reduce():
    rank = dist.get_rank()
    for dtype, op in _pairs():
        tensor = value(rank, dtype).npu()
        assert dist.all_reduce(tensor, op) is None
        same(tensor, _reduced(dtype, op), (dtype, op))
        tensor = value(rank, dtype).npu()
        work = dist.all_reduce(tensor, op, async_op=True)
        work.wait()
        same(tensor, _reduced(dtype, op), (dtype, op, "async"))


def all_reduce_layouts():
    rank = dist.get_rank()
    shape = (2, 3, 4, 5)
    expected = torch.stack(values(torch.float32, shape)).sum(0)
    dense = value(rank, torch.float32, shape).npu().to(memory_format=torch.channels_last)
    dist.all_reduce(dense)
    same(dense, expected)
    assert dense.is_contiguous(memory_format=torch.channels_last)
    empty = torch.empty(0, 4, device="npu")
    dist.all_reduce(empty)
    scalar = torch.tensor(float(rank + 1), device="npu")
    dist.all_reduce(scalar)
    assert scalar.item() == sum(range(1, dist.get_world_size() + 1))
    view = torch.zeros(4, 6, device="npu")
    dist.all_reduce(view[2].add_(rank + 1))
    assert view.sum().item() == 6 * scalar.item()


def premultiplied():
    rank = dist.get_rank()
    for factor in (0.5, torch.tensor([0.5], device="npu")):
        tensor = value(rank, torch.float32).npu()
        dist.all_reduce(tensor, dist._make_nccl_premul_sum(factor))
        same(tensor, torch.stack(values(torch.float32)).mul(0.5).sum(0))
        given = torch.cat(values(torch.float32)).npu()
        output = torch.empty(3, 5, device="npu")
        dist.reduce_scatter_tensor(output, given, dist._make_nccl_premul_sum(factor))
        same(output, value(rank, torch.float32) * 0.5 * dist.get_world_size())
        same(given, torch.cat(values(torch.float32)))


def coalesced():
    rank = dist.get_rank()
    shapes = [(3, 5), (7,), (2, 2, 2)]
    tensors = [value(rank, torch.float32, shape).npu() for shape in shapes]
    with dist._coalescing_manager(device=torch.device("npu"), async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    for tensor, shape in zip(tensors, shapes, strict=True):
        same(tensor, torch.stack(values(torch.float32, shape)).sum(0))
    outputs = [torch.empty(dist.get_world_size() * 6, device="npu") for _ in range(2)]
    inputs = [value(rank, torch.float32, (6,)).npu() * (i + 1) for i in range(2)]
    with dist._coalescing_manager(device=torch.device("npu")):
        for output, given in zip(outputs, inputs, strict=True):
            dist.all_gather_into_tensor(output, given)
    for i, output in enumerate(outputs):
        same(output, torch.cat(values(torch.float32, (6,))) * (i + 1))
    parts = [torch.empty(6, device="npu") for _ in range(2)]
    with dist._coalescing_manager(device=torch.device("npu")):
        for part, output in zip(parts, outputs, strict=True):
            dist.reduce_scatter_tensor(part, output)
    for i, part in enumerate(parts):
        expected = value(rank, torch.float32, (6,)) * (i + 1) * dist.get_world_size()
        same(part, expected)


def broadcast():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype in MOVED:
        for root in range(ranks):
            tensor = value(rank, dtype).npu()
            dist.broadcast(tensor, root)
            same(tensor, value(root, dtype), dtype)


def reduce():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype, op in _pairs():
        root = ranks - 1
        tensor = value(rank, dtype).npu()
        dist.reduce(tensor, root, op)
        same(tensor, _reduced(dtype, op) if rank == root else value(rank, dtype), (dtype, op))


def all_gather():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype in MOVED:
        given = value(rank, dtype).npu()
        outputs = [torch.empty_like(given) for _ in range(ranks)]
        dist.all_gather(outputs, given)
        for output, expected in zip(outputs, values(dtype), strict=True):
            same(output, expected, dtype)
        whole = torch.empty((ranks * 3, 5), dtype=dtype, device="npu")
        dist.all_gather_into_tensor(whole, given)
        for part, expected in zip(whole.split(3), values(dtype), strict=True):
            same(part, expected, dtype)
    # Strided outputs, and another size on each rank.
    columns = torch.zeros(5, 3 * ranks, device="npu")
    dist.all_gather(list(columns.t().split(3)), value(rank, torch.float32).npu())
    same(columns.t().contiguous(), torch.cat(values(torch.float32)))
    outputs = [torch.empty(i + 1, device="npu") for i in range(ranks)]
    dist.all_gather(outputs, torch.full((rank + 1,), float(rank), device="npu"))
    assert [o.tolist() for o in outputs] == [[float(i)] * (i + 1) for i in range(ranks)]


def reduce_scatter():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    shape = (ranks * 2, 3)
    for dtype, op in _pairs():
        expected = _reduced(dtype, op, shape)[rank * 2 : rank * 2 + 2]
        given = value(rank, dtype, shape).npu()
        output = torch.empty((2, 3), dtype=dtype, device="npu")
        dist.reduce_scatter_tensor(output, given, op)
        same(output, expected, (dtype, op))
        output = torch.empty((2, 3), dtype=dtype, device="npu")
        dist.reduce_scatter(output, list(given.split(2)), op)
        same(output, expected, (dtype, op, "list"))
        same(given, value(rank, dtype, shape))
    parts = [torch.full((i + 1,), float(rank + 1), device="npu") for i in range(ranks)]
    output = torch.empty(rank + 1, device="npu")
    dist.reduce_scatter(output, parts)
    assert output.tolist() == [float(sum(range(1, ranks + 1)))] * (rank + 1)


def scatter_and_gather():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype in MOVED:
        for root in range(ranks):
            output = torch.empty((3, 5), dtype=dtype, device="npu")
            parts = [part.npu() for part in values(dtype)] if rank == root else None
            dist.scatter(output, parts, src=root)
            same(output, value(rank, dtype), dtype)
            gathered = [torch.empty_like(output) for _ in range(ranks)] if rank == root else None
            dist.gather(output, gathered, dst=root)
            for part, expected in zip(gathered or [], values(dtype), strict=rank == root):
                same(part, expected, dtype)


def all_to_all():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype in MOVED:
        rows = [value(source, dtype, (ranks, 2, 3)) for source in range(ranks)]
        expected = torch.stack([row[rank] for row in rows])
        output = torch.empty((ranks * 2, 3), dtype=dtype, device="npu")
        dist.all_to_all_single(output, rows[rank].flatten(0, 1).npu())
        same(output.view(ranks, 2, 3), expected, dtype)
        outputs = [torch.empty((2, 3), dtype=dtype, device="npu") for _ in range(ranks)]
        dist.all_to_all(outputs, [part.npu() for part in rows[rank]])
        for part, right in zip(outputs, expected, strict=True):
            same(part, right, dtype)
    # Rank i sends j + 1 rows to rank j.
    sizes = list(range(1, ranks + 1))
    given = torch.full((sum(sizes), 2), float(rank), device="npu")
    output = torch.empty((ranks * (rank + 1), 2), device="npu")
    dist.all_to_all_single(output, given, [rank + 1] * ranks, sizes)
    sources = output.view(ranks, rank + 1, 2)[:, 0, 0].tolist()
    assert sources == [float(source) for source in range(ranks)]
    # Nothing to or from some ranks.
    output = torch.empty(1 if rank == 0 else 0, device="npu")
    given = torch.ones(1 if rank == ranks - 1 else 0, device="npu")
    received = [0] * (ranks - 1) + [1] if rank == 0 else [0] * ranks
    sent = [1] + [0] * (ranks - 1) if rank == ranks - 1 else [0] * ranks
    dist.all_to_all_single(output, given, received, sent)
    assert output.tolist() == [1.0] * len(output)


def point_to_point():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    for dtype in MOVED:
        given, output = value(rank, dtype).npu(), torch.empty((3, 5), dtype=dtype, device="npu")
        # Every rank sends before it receives.
        sent = dist.isend(given, right)
        received = dist.irecv(output, left)
        sent.wait()
        received.wait()
        same(output, value(left, dtype), dtype)
    if rank < 2:
        tensor = torch.full((4,), float(rank), device="npu")
        dist.send(tensor, 1) if rank == 0 else dist.recv(tensor, 0)
        assert tensor.tolist() == [0.0] * 4
    outputs = [torch.empty(3, device="npu") for _ in range(ranks)]
    given = torch.full((3,), float(rank), device="npu")
    peers = [peer for peer in range(ranks) if peer != rank]
    batch = [dist.P2POp(dist.irecv, outputs[peer], peer) for peer in peers]
    batch += [dist.P2POp(dist.isend, given, peer) for peer in peers]
    for work in dist.batch_isend_irecv(batch):
        work.wait()
    for peer in peers:
        assert outputs[peer].tolist() == [float(peer)] * 3


def own_peer():
    """In a batch a rank may send to itself: the n-th such send arrives in the n-th such receive."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    given = [torch.full((2, 3), float(10 * rank + i), device="npu") for i in range(2)]
    outputs = [torch.empty(6, device="npu") for _ in range(2)]
    other, away = torch.empty(2, 3, device="npu"), (rank + 1) % ranks
    batch = [dist.P2POp(dist.irecv, output, rank) for output in outputs]
    batch += [dist.P2POp(dist.isend, tensor, rank) for tensor in given]
    batch += [
        dist.P2POp(dist.isend, given[1], away),
        dist.P2POp(dist.irecv, other, (rank - 1) % ranks),
    ]
    for work in dist.batch_isend_irecv(batch):
        work.wait()
    assert [output.tolist() for output in outputs] == [[10.0 * rank + i] * 6 for i in range(2)]
    assert other.tolist() == [[10.0 * ((rank - 1) % ranks) + 1] * 3] * 2


def uneven():
    import torch_npu

    rank, ranks = dist.get_rank(), dist.get_world_size()
    sizes = list(range(1, ranks + 1))
    whole = torch.empty((sum(sizes), 2), device="npu")
    own = torch.full((rank + 1, 2), float(rank), device="npu")
    torch_npu.distributed.all_gather_into_tensor_uneven(whole, own, sizes)
    expected = [float(source) for source in range(ranks) for _ in range(source + 1)]
    assert whole[:, 1].tolist() == expected
    output = torch.empty((rank + 1, 2), device="npu")
    work = torch_npu.distributed.reduce_scatter_tensor_uneven(output, whole, sizes, async_op=True)
    work.wait()
    assert output.tolist() == [[float(rank * ranks)] * 2] * (rank + 1)
    matrix = [[i + j for j in range(ranks)] for i in range(ranks)]
    given = torch.full((sum(matrix[rank]),), float(rank), device="npu")
    received = torch.empty(sum(row[rank] for row in matrix), device="npu")
    torch_npu.distributed.all_to_all_vc(received, given, matrix)
    assert received.tolist() == [float(i) for i in range(ranks) for _ in range(matrix[i][rank])]


def objects():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    everything = [None] * ranks
    dist.all_gather_object(everything, {"rank": rank, "text": "x" * rank})
    assert everything == [{"rank": r, "text": "x" * r} for r in range(ranks)]
    received = [rank, "own"]
    dist.broadcast_object_list(received, src=ranks - 1)
    assert received == [ranks - 1, "own"]
    gathered = [None] * ranks if rank == 0 else None
    dist.gather_object(("from", rank), gathered, dst=0)
    assert gathered == ([("from", r) for r in range(ranks)] if rank == 0 else None)
    part = [None]
    dist.scatter_object_list(part, [[r] for r in range(ranks)] if rank == 0 else None, src=0)
    assert part == [[rank]]


def objects_on_npu():
    group = dist.new_group(backend="hccl")
    everything = [None] * dist.get_world_size()
    dist.all_gather_object(everything, ("rank", dist.get_rank()), group=group)
    assert everything == [("rank", rank) for rank in range(dist.get_world_size())]
    received = ["root" if dist.get_rank() == 0 else "other"]
    dist.broadcast_object_list(received, src=0, group=group)
    assert received == ["root"]
    dist.destroy_process_group(group)


def barrier():
    dist.barrier()
    assert dist.barrier(async_op=True).wait()
    dist.barrier(device_ids=[torch.npu.current_device()])
