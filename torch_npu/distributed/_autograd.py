"""Gradients that ``torch.distributed.nn`` gives to NCCL alone."""

from functools import wraps

import torch
from torch import distributed as dist
from torch.distributed.nn import functional


def let_all_gather_have_gradients() -> None:
    """Backward passes of all-gather by HCCL's reduce-scatter, as those of NCCL's."""
    by_others = functional._AllGather.backward
    base_by_others = functional._AllGatherBase.backward

    @wraps(by_others)
    def backward(ctx: object, *grads: torch.Tensor) -> tuple:
        if grads[0].device.type != "npu":
            return by_others(ctx, *grads)
        own = torch.empty_like(grads[dist.get_rank(group=ctx.group)])
        return None, functional._Reduce_Scatter.apply(dist.ReduceOp.SUM, ctx.group, own, *grads)

    @wraps(base_by_others)
    def base_backward(ctx: object, grad: torch.Tensor) -> tuple:
        if grad.device.type != "npu":
            return base_by_others(ctx, grad)
        ranks = dist.get_world_size(ctx.group)
        if grad.size(0) % ranks:
            raise RuntimeError(
                f"all_gather's gradient has {grad.size(0)} rows, which {ranks} ranks cannot share"
            )
        own = grad.new_empty((grad.size(0) // ranks, *grad.shape[1:]))
        dist.reduce_scatter_tensor(own, grad.contiguous(), dist.ReduceOp.SUM, ctx.group)
        return None, own, None

    functional._AllGather.backward = staticmethod(backward)
    functional._AllGatherBase.backward = staticmethod(base_backward)
