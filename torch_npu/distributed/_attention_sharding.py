"""How DTensor shards the operator that ``scaled_dot_product_attention`` is on npu: by batch or by heads."""

import torch
from torch.distributed.tensor import Partial, Placement, Replicate, Shard
from torch.distributed.tensor._op_schema import OpSchema, OpStrategy
from torch.distributed.tensor._ops.utils import (
    expand_to_full_mesh_op_strategy,
    register_op_strategy,
)

_FORWARD = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
_BACKWARD = torch.ops.aten._scaled_dot_product_fused_attention_overrideable_backward.default
_FORWARD_RESULTS, _BACKWARD_RESULTS = 9, 4
# Of the forward operator: the output and the two statistics of each row of scores.
_SHARDED_RESULTS = 3
_BIAS = {_FORWARD: 3, _BACKWARD: 4}
_BATCH, _HEADS = 0, 1


def _placement(dim: int | None) -> Placement:
    """``dim`` None: replicated."""
    return Replicate() if dim is None else Shard(dim)


def _of_bias(sizes: torch.Size, dim: int | None) -> Placement:
    """The placement of a bias that is broadcast to ``[batch, heads, queries, keys]``."""
    own = -1 if dim is None else dim - (4 - len(sizes))
    return Shard(own) if own >= 0 and sizes[own] != 1 else Replicate()


def _dims(schema: OpSchema, query: int) -> list[int | None]:
    """None and the dimensions that can be sharded; heads only where each query has a key of its own."""
    heads = [schema.args_schema[i].shape[_HEADS] for i in (query, query + 1)]
    return [None, _BATCH, _HEADS] if heads[0] == heads[1] else [None, _BATCH]


def _inputs(schema: OpSchema, dim: int | None) -> list[Placement]:
    """A placement for each tensor argument."""
    bias = _BIAS[schema.op]
    return [
        _of_bias(argument.shape, dim) if i == bias else _placement(dim)
        for i, argument in enumerate(schema.args_schema)
        if isinstance(argument, OpStrategy)
    ]


def _forward(schema: OpSchema) -> OpStrategy:
    unused = [None] * (_FORWARD_RESULTS - _SHARDED_RESULTS)
    rows = [
        [*[_placement(dim)] * _SHARDED_RESULTS, *unused, *_inputs(schema, dim)]
        for dim in _dims(schema, 0)
    ]
    return expand_to_full_mesh_op_strategy(
        schema.get_mesh_from_args(), schema, rows, input_index=_FORWARD_RESULTS
    )


def _backward(schema: OpSchema) -> OpStrategy:
    bias = schema.args_schema[_BIAS[_BACKWARD]]
    rows = []
    for dim in _dims(schema, 1):
        of_bias = _of_bias(bias.shape, dim) if isinstance(bias, OpStrategy) else None
        if dim is not None and of_bias == Replicate():
            of_bias = Partial()  # each rank has the gradient of its own part
        rows.append([*[_placement(dim)] * 3, of_bias, *_inputs(schema, dim)])
    return expand_to_full_mesh_op_strategy(
        schema.get_mesh_from_args(validate=False), schema, rows, input_index=_BACKWARD_RESULTS
    )


def register() -> None:
    """Makes both operators known to DTensor."""
    register_op_strategy(_FORWARD)(_forward)
    register_op_strategy(_BACKWARD)(_backward)
