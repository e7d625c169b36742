"""FSDP2, DTensor, DeviceMesh, distributed checkpoints, collectives with gradients: against one process."""

import copy
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn.functional as F
from torch.distributed import _functional_collectives as functional
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    set_model_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

from checks.models import batch, close, loss_of, make, part, train_alone, train_parts


def _mesh():
    return init_device_mesh("npu", (dist.get_world_size(),))


def _shard(model, **options):
    for layer in (model.first, model.second, model.last):
        fully_shard(layer, mesh=_mesh(), **options)
    return fully_shard(model, mesh=_mesh(), **options)


def fsdp():
    model = _shard(make())
    assert isinstance(model.first.weight, DTensor)
    assert model.first.weight.to_local().shape[0] == 64 // dist.get_world_size()
    close(train_parts(model), train_alone(make()))


def fsdp_without_reshard():
    close(train_parts(_shard(make(), reshard_after_forward=False)), train_alone(make()))


def fsdp_mixed_precision():
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    close(train_parts(_shard(make(), mp_policy=policy)), train_alone(make()), 2**-6)


def fsdp_offload():
    model = make()
    model = _shard(model, offload_policy=CPUOffloadPolicy())
    model.cpu()
    close(train_parts(model), train_alone(make()))


def fsdp_clip():
    model, alone = _shard(make()), make()
    inputs, targets = batch(0)
    loss_of(model(part(inputs)), part(targets)).backward()
    loss_of(alone(inputs), targets).backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1).full_tensor()
    expected = torch.nn.utils.clip_grad_norm_(alone.parameters(), 0.1)
    torch.testing.assert_close(norm, expected, rtol=1e-5, atol=1e-6)
    for own, other in zip(model.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(own.grad.full_tensor(), other.grad, rtol=1e-5, atol=1e-6)


def fsdp_state_dict():
    model = _shard(make())
    full = get_model_state_dict(
        model, options=StateDictOptions(full_state_dict=True, cpu_offload=True)
    )
    if dist.get_rank() == 0:
        for name, tensor in make().state_dict().items():
            assert torch.equal(full[name], tensor.cpu()), name
    other = _shard(make())
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(0)
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(other, full if dist.get_rank() == 0 else {}, options=options)
    for own, right in zip(other.parameters(), model.parameters(), strict=True):
        assert torch.equal(own.to_local(), right.to_local())


def checkpoint():
    folder = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder, src=0)
    model = _shard(make())
    train_parts(model)
    saved = copy.deepcopy(get_model_state_dict(model))
    dcp.save({"model": get_model_state_dict(model)}, checkpoint_id=folder[0])
    other = _shard(make())
    state = {"model": get_model_state_dict(other)}
    dcp.load(state, checkpoint_id=folder[0])
    set_model_state_dict(other, state["model"])
    for name, tensor in get_model_state_dict(other).items():
        assert torch.equal(tensor.to_local(), saved[name].to_local()), name
    dist.barrier()
    if dist.get_rank() == 0:
        import shutil

        shutil.rmtree(folder[0])


def dtensor():
    mesh, ranks, rank = _mesh(), dist.get_world_size(), dist.get_rank()
    whole = torch.arange(ranks * 2 * ranks * 3, dtype=torch.float32, device="npu")
    whole = whole.view(ranks * 2, ranks * 3)
    rows = distribute_tensor(whole, mesh, [Shard(0)])
    assert torch.equal(rows.to_local(), whole[rank * 2 : rank * 2 + 2])
    columns = rows.redistribute(mesh, [Shard(1)])
    assert torch.equal(columns.to_local(), whole[:, rank * 3 : rank * 3 + 3])
    assert torch.equal(columns.redistribute(mesh, [Replicate()]).to_local(), whole)
    partial = DTensor.from_local(whole, mesh, [Partial()])
    assert torch.equal(partial.full_tensor(), whole * ranks)
    scattered = partial.redistribute(mesh, [Shard(0)]).to_local()
    assert torch.equal(scattered, whole[rank * 2 : rank * 2 + 2] * ranks)
    product = columns @ rows.redistribute(mesh, [Shard(0)]).t().redistribute(mesh, [Shard(0)])
    torch.testing.assert_close(product.full_tensor(), whole @ whole.t())
    assert rows.sum().full_tensor().item() == whole.sum().item()
    uneven = distribute_tensor(torch.arange(float(ranks + 1), device="npu"), mesh, [Shard(0)])
    assert uneven.full_tensor().tolist() == [float(i) for i in range(ranks + 1)]


def dtensor_random():
    mesh = _mesh()
    torch.manual_seed(7)
    rows = torch.distributed.tensor.rand(8, 4, device_mesh=mesh, placements=[Shard(0)])
    whole = rows.full_tensor()
    assert whole.unique().numel() > 24
    same = [torch.empty_like(whole) for _ in range(dist.get_world_size())]
    dist.all_gather(same, whole)
    assert all(torch.equal(other, whole) for other in same)
    dropped = torch.nn.functional.dropout(torch.distributed.tensor.ones(64, device_mesh=mesh), 0.5)
    both = [torch.empty(64, device="npu") for _ in range(dist.get_world_size())]
    dist.all_gather(both, dropped.to_local())
    assert all(torch.equal(other, both[0]) for other in both)


def tensor_parallel():
    alone, model = make(), make()
    plan = {
        "first": ColwiseParallel(output_layouts=Replicate()),
        "second": ColwiseParallel(),
        "branch": RowwiseParallel(),
    }
    model = parallelize_module(model, _mesh(), plan)
    inputs, targets = batch(0)
    loss, expected = loss_of(model(inputs), targets), loss_of(alone(inputs), targets)
    torch.testing.assert_close(loss, expected, rtol=1e-6, atol=1e-6)
    loss.backward()
    expected.backward()
    torch.testing.assert_close(
        model.second.weight.grad.full_tensor(), alone.second.weight.grad, rtol=1e-5, atol=1e-6
    )


def mesh_of_two_dimensions():
    mesh = init_device_mesh("npu", (2, dist.get_world_size() // 2), mesh_dim_names=("dp", "tp"))
    rank = dist.get_rank()
    tensor = torch.full((2,), float(rank), device="npu")
    dist.all_reduce(tensor, group=mesh.get_group("tp"))
    row = rank // mesh.size(1)
    expected = sum(range(row * mesh.size(1), (row + 1) * mesh.size(1)))
    assert tensor.tolist() == [float(expected)] * 2
    model = make()
    plan = {"second": ColwiseParallel(), "branch": RowwiseParallel()}
    model = parallelize_module(model, mesh["tp"], plan)
    model = fully_shard(model, mesh=mesh["dp"])
    inputs, targets = batch(0)
    loss = loss_of(model(inputs), targets)
    torch.testing.assert_close(loss, loss_of(make()(inputs), targets), rtol=1e-6, atol=1e-6)
    loss.backward()


def functional_collectives():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.group.WORLD
    tensor = torch.full((ranks, 2), float(rank + 1), device="npu")
    total = float(sum(range(1, ranks + 1)))
    assert functional.all_reduce(tensor, "sum", group).unique().tolist() == [total]
    assert torch.equal(tensor, torch.full_like(tensor, rank + 1.0))
    assert functional.all_reduce(tensor, "avg", group).unique().tolist() == [total / ranks]
    gathered = functional.all_gather_tensor(tensor, 0, group)
    assert gathered[:, 0].tolist() == [float(r + 1) for r in range(ranks) for _ in range(ranks)]
    columns = functional.all_gather_tensor(tensor, 1, group)
    assert columns[0].tolist() == [float(r + 1) for r in range(ranks) for _ in range(2)]
    scattered = functional.reduce_scatter_tensor(tensor, "sum", 0, group)
    assert scattered.tolist() == [[total, total]]
    exchanged = functional.all_to_all_single(tensor, None, None, group)
    assert exchanged[:, 0].tolist() == [float(r + 1) for r in range(ranks)]
    first, second = functional.all_reduce_coalesced([tensor, tensor * 2], "sum", group)
    assert first[0, 0].item() == total
    assert second[0, 0].item() == 2 * total
    assert functional.broadcast(tensor, 0, group).unique().tolist() == [1.0]


def gradients():
    import torch.distributed.nn as dist_nn

    rank, ranks = dist.get_rank(), dist.get_world_size()
    weight = float(rank + 1)
    total = float(sum(range(1, ranks + 1)))

    def leaf(*shape):
        return torch.full(shape, weight, device="npu", requires_grad=True)

    given = leaf(3)
    (dist_nn.all_reduce(given) * weight).sum().backward()
    assert given.grad.tolist() == [total] * 3
    given = leaf(2)
    (torch.stack(dist_nn.all_gather(given)) * weight).sum().backward()
    assert given.grad.tolist() == [total] * 2
    given = leaf(2)
    output = torch.empty(2 * ranks, device="npu")
    (dist_nn.functional._all_gather_base(output, given) * weight).sum().backward()
    assert given.grad.tolist() == [total] * 2
    given = leaf(ranks, 2)
    output = torch.empty(ranks, 2, device="npu")
    (dist_nn.functional.all_to_all_single(output, given) * weight).sum().backward()
    assert given.grad[:, 0].tolist() == [float(r + 1) for r in range(ranks)]
    given = leaf(ranks, 2)
    parts = list(given.unbind(0))
    (dist_nn.reduce_scatter(torch.empty(2, device="npu"), parts) * weight).sum().backward()
    assert given.grad[:, 0].tolist() == [float(r + 1) for r in range(ranks)]
    given = leaf(2)
    (functional.all_gather_tensor_autograd(given, 0, dist.group.WORLD) * weight).sum().backward()
    assert given.grad.tolist() == [total] * 2


def attention():
    """With batch or heads sharded, with a bias that is broadcast, and with fewer heads of keys."""
    mesh, ranks = _mesh(), dist.get_world_size()
    torch.manual_seed(3)

    def run(bias_sizes, dim, heads_of_keys=2 * ranks, **options):
        sizes = (ranks, 2 * ranks, 5, 8)
        keys = (ranks, heads_of_keys, 5, 8)
        whole = [torch.randn(s, device="npu") for s in (sizes, keys, keys)]
        whole += [torch.randn(bias_sizes, device="npu")] if bias_sizes else []
        for tensor in whole:
            dist.broadcast(tensor, 0)

        def attend(parts):
            bias = parts[3] if bias_sizes else None
            out = F.scaled_dot_product_attention(*parts[:3], attn_mask=bias, **options)
            return out, torch.autograd.grad(out.square().sum(), parts)

        parts = [
            distribute_tensor(
                t.detach(), mesh, [Shard(dim) if i < 3 else Replicate()]
            ).requires_grad_()
            for i, t in enumerate(whole)
        ]
        out, gradients = attend(parts)
        expected, expected_gradients = attend([t.requires_grad_() for t in whole])
        torch.testing.assert_close(out.full_tensor(), expected, rtol=1e-5, atol=1e-5)
        for gradient, other in zip(gradients, expected_gradients, strict=True):
            torch.testing.assert_close(gradient.full_tensor(), other, rtol=1e-5, atol=1e-5)
        return out

    for dim in (0, 1):
        assert run(None, dim, is_causal=True).placements == (Shard(dim),)
        for sizes in ((ranks, 2 * ranks, 5, 5), (1, 2 * ranks, 5, 5), (ranks, 1, 5, 5), (5, 5)):
            assert run(sizes, dim).placements == (Shard(dim),)
    run(None, 1, heads_of_keys=ranks, enable_gqa=True)


def npu_operators():
    """Operators of namespace npu on sharded tensors, with their gradients, without gathering what is sharded."""
    mesh, ranks = _mesh(), dist.get_world_size()
    torch.manual_seed(4)

    def run(function, sizes, placements, expected_placement):
        whole = [torch.randn(s, device="npu") for s in sizes]
        for tensor in whole:
            dist.broadcast(tensor, 0)
        parts = [
            distribute_tensor(t, mesh, [p]).requires_grad_()
            for t, p in zip(whole, placements, strict=True)
        ]
        whole = [t.requires_grad_() for t in whole]
        out, other = function(*parts), function(*whole)
        assert out.placements == (expected_placement,)
        torch.testing.assert_close(out.full_tensor(), other, rtol=1e-5, atol=1e-5)
        gradients = torch.autograd.grad(out.square().sum(), parts)
        others = torch.autograd.grad(other.square().sum(), whole)
        for gradient, expected in zip(gradients, others, strict=True):
            torch.testing.assert_close(gradient.full_tensor(), expected, rtol=1e-5, atol=1e-4)

    ops, rows = torch.ops.npu, 2 * ranks
    run(lambda x: ops.npu_swiglu(x, -1), [(rows, 3, 8)], [Shard(0)], Shard(0))
    run(lambda x: ops.npu_swiglu(x, 0), [(6, rows, 8)], [Shard(1)], Shard(1))
    norm = lambda x, g: ops.npu_rms_norm(x, g)[0]  # noqa: E731
    run(norm, [(rows, 3, 8), (8,)], [Shard(0), Replicate()], Shard(0))
    run(norm, [(3, rows, 8), (8,)], [Shard(1), Replicate()], Shard(1))
    tables = [(1, rows, 1, 8)] * 2
    run(ops.npu_rotary_mul, [(2, rows, 3, 8), *tables], [Shard(1)] * 3, Shard(1))
    run(
        ops.npu_rotary_mul,
        [(2, 3, rows, 8), *[(1, 3, 1, 8)] * 2],
        [Shard(2), Replicate(), Replicate()],
        Shard(2),
    )

    def attend(layout):
        return lambda *parts: ops.npu_fusion_attention(*parts, 2, layout, scale=0.3)[0]

    layouts = {"BNSD": ((rows, 2, 5, 8), 0), "SBH": ((5, rows, 16), 1), "BSH": ((rows, 5, 16), 0)}
    for layout, (size, dim) in layouts.items():
        run(attend(layout), [size] * 3, [Shard(dim)] * 3, Shard(dim))
