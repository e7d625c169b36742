"""DistributedDataParallel: losses of one process, equal parameters."""

import contextlib

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

import torch_npu
from checks.models import (
    batch,
    close,
    equal_on_all_ranks,
    loss_of,
    make,
    part,
    train_alone,
    train_parts,
)

DEVICE = torch.device("npu")


def _wrap(model, **options):
    index = torch.npu.current_device()
    return DistributedDataParallel(model, device_ids=[index], output_device=index, **options)


def _compare(branches=lambda step: True, **options):
    expected = train_alone(make(), branches)
    model = _wrap(make(), **options)
    close(train_parts(model, branches), expected)
    equal_on_all_ranks(model.module)
    return model


def plain():
    _compare()


def buckets():
    before = dict(torch_npu._C._distributed_c10d.hccl_calls())
    model = _compare(bucket_cap_mb=0.002)
    after = dict(torch_npu._C._distributed_c10d.hccl_calls())
    # One bucket in the first step and three in each of the others, and the mean of the loss.
    assert after["HcclAllReduce"] - before.get("HcclAllReduce", 0) == 1 + 3 * 3 + 4
    data = model._get_ddp_logging_data()
    assert data["num_buckets_reduced"] == 3
    assert data["backward_compute_time"] > 0


def unused_parameters():
    # Every rank leaves the branch out in the same steps.
    _compare(lambda step: step % 2 == 0, find_unused_parameters=True)


def unused_on_one_rank():
    model = _wrap(make(), find_unused_parameters=True)
    inputs, targets = batch(0)
    loss_of(model(part(inputs), dist.get_rank() == 0), part(targets)).backward()
    assert model.module.branch.weight.grad.abs().sum().item() > 0
    equal_on_all_ranks(model.module)


def bucket_view():
    model = _compare(gradient_as_bucket_view=True)
    assert all(p.grad._base is not None for p in model.parameters())


def static_graph():
    _compare(static_graph=True)


def no_sync():
    model = _wrap(make())
    alone = make()
    for step in range(2):
        inputs, targets = batch(step)
        with model.no_sync() if step == 0 else contextlib.nullcontext():
            loss_of(model(part(inputs)), part(targets)).backward()
        loss_of(alone(inputs), targets).backward()
    for own, other in zip(model.module.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(own.grad, other.grad, rtol=1e-5, atol=1e-6)


def join():
    model = _wrap(make())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with Join([model]):
        for step in range(2 + dist.get_rank()):
            inputs, targets = batch(step)
            optimizer.zero_grad()
            loss_of(model(part(inputs)), part(targets)).backward()
            optimizer.step()
    equal_on_all_ranks(model.module)


def mixed_precision():
    model = _wrap(make())
    expected = train_alone(make())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for step in range(4):
        inputs, targets = batch(step)
        optimizer.zero_grad()
        with torch.autocast("npu", torch.bfloat16):
            loss = loss_of(model(part(inputs)), part(targets))
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        losses.append(mean.item())
    close(losses, expected, 2**-6)
    equal_on_all_ranks(model.module)


def compressed():
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    model = _wrap(make())
    model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    close(train_parts(model), train_alone(make()), 2**-6)
    equal_on_all_ranks(model.module)


def synchronized_batch_norm():
    alone = make(norm=True)
    expected = train_alone(alone)
    model = _wrap(torch.nn.SyncBatchNorm.convert_sync_batchnorm(make(norm=True)))
    close(train_parts(model), expected)
    torch.testing.assert_close(
        model.module.norm.running_var, alone.norm.running_var, rtol=1e-5, atol=1e-6
    )
    equal_on_all_ranks(model.module)
