"""How DTensor shards operators of namespace npu: by the dimensions that they compute one by one."""

from collections.abc import Callable, Sequence

import torch
from torch.distributed.tensor import Partial, Placement, Replicate, Shard
from torch.distributed.tensor._op_schema import OpSchema, OpStrategy, RuntimeSchemaInfo
from torch.distributed.tensor._ops.utils import (
    expand_to_full_mesh_op_strategy,
    register_op_strategy,
)

# A row of placements for each dimension that may be sharded: of the results, of the tensors among the arguments.
Row = tuple[list[Placement | None], list[Placement]]
_OPS = torch.ops.npu


def _rank(argument: object) -> int:
    assert isinstance(argument, OpStrategy)
    return argument.ndim


def _of_broadcast(argument: object, dim: int) -> Placement:
    """The placement of an argument that is broadcast to a tensor of as many dimensions that is sharded along ``dim``."""
    assert isinstance(argument, OpStrategy)
    return Shard(dim) if argument.shape[dim] != 1 else Replicate()


def _gradient(placement: Placement) -> Placement:
    """The placement of the gradient of an argument, of which each rank has its part's share."""
    return Partial() if placement == Replicate() else placement


def _half_dim(schema: OpSchema, x: int) -> int:
    """The dimension of argument ``x`` that the argument behind it names, the last one without."""
    dim = schema.args_schema[x + 1] if len(schema.args_schema) > x + 1 else -1
    assert isinstance(dim, int)
    return dim % _rank(schema.args_schema[x])


def _swiglu(schema: OpSchema) -> list[Row]:
    x, half_dim = schema.args_schema[0], _half_dim(schema, 0)
    return [([Shard(d)], [Shard(d)]) for d in range(_rank(x)) if d != half_dim]


def _swiglu_backward(schema: OpSchema) -> list[Row]:
    x, half_dim = schema.args_schema[1], _half_dim(schema, 1)
    return [([Shard(d)], [Shard(d)] * 2) for d in range(_rank(x)) if d != half_dim]


def _rms_norm(schema: OpSchema) -> list[Row]:
    x, gamma = schema.args_schema[:2]
    outer = range(_rank(x) - _rank(gamma))
    return [([Shard(d)] * 2, [Shard(d), Replicate()]) for d in outer]


def _rms_norm_backward(schema: OpSchema) -> list[Row]:
    x, gamma = schema.args_schema[1:3]
    outer = range(_rank(x) - _rank(gamma))
    return [([Shard(d), Partial()], [Shard(d), Shard(d), Replicate(), Shard(d)]) for d in outer]


def _tables(given: Sequence[object], dim: int) -> list[Placement]:
    return [_of_broadcast(table, dim) for table in given]


def _rotary_mul(schema: OpSchema) -> list[Row]:
    x, *tables = schema.args_schema[:3]
    return [([Shard(d)], [Shard(d), *_tables(tables, d)]) for d in range(_rank(x) - 1)]


def _rotary_mul_backward(schema: OpSchema) -> list[Row]:
    x, *tables = schema.args_schema[1:4]
    rows: list[Row] = []
    for d in range(_rank(x) - 1):
        of_tables = _tables(tables, d)
        rows.append(
            (
                [Shard(d), *(_gradient(p) for p in of_tables)],
                [Shard(d), Shard(d), *of_tables],
            )
        )
    return rows


# The dimension of sequences in the layouts of attention; TND has none.
_BATCH = {"BSH": 0, "SBH": 1, "BNSD": 0, "BSND": 0}


def _named(schema: OpSchema) -> dict[str, object]:
    """All arguments by their names."""
    names = [a.name for a in schema.op._schema.arguments]
    return dict(zip(names, schema.args_schema, strict=False)) | schema.kwargs_schema


def _attention_inputs(given: dict[str, object], batch: int) -> list[tuple[str, Placement]] | None:
    """A placement for each tensor where sequences are sharded; None where they cannot be."""
    if given.get("prefix") or given.get("actual_seq_qlen") or given.get("actual_seq_kvlen"):
        return None
    if given.get("keep_prob", 1.0) != 1.0:  # all ranks would drop the same scores
        return None
    query = given["query"]
    assert isinstance(query, OpStrategy)
    sequences = query.shape[batch]
    found: list[tuple[str, Placement]] = []
    for name, value in given.items():
        if not isinstance(value, OpStrategy):
            continue
        if name in ("query", "key", "value", "dy", "attention_in"):
            found.append((name, Shard(batch)))
        elif name in ("softmax_max", "softmax_sum") or (
            name in ("pse", "atten_mask") and value.ndim == 4 and value.shape[0] == sequences > 1
        ):
            found.append((name, Shard(0)))
        else:
            found.append((name, Replicate()))
    return found


def _attention(schema: OpSchema) -> list[Row]:
    given = _named(schema)
    batch = _BATCH.get(str(given["input_layout"]))
    inputs = None if batch is None else _attention_inputs(given, batch)
    if inputs is None or batch is None:
        return []
    results: list[Placement | None] = [Shard(batch), Shard(0), Shard(0), Replicate()]
    results += [None] * 3  # integers
    return [(results, [placement for _, placement in inputs])]


def _attention_grad(schema: OpSchema) -> list[Row]:
    given = _named(schema)
    batch = _BATCH.get(str(given["input_layout"]))
    inputs = None if batch is None else _attention_inputs(given, batch)
    if inputs is None or batch is None:
        return []
    placed = dict(inputs)
    of_bias = _gradient(placed["pse"]) if "pse" in placed else None
    of_sink = Partial() if "sink" in placed else Replicate()
    return [([*[Shard(batch)] * 3, of_bias, of_sink], list(placed.values()))]


def _replicated(schema: OpSchema, results: Sequence[bool]) -> Row:
    """Everything on all ranks; ``results`` says which results are tensors."""
    tensors = [a for a in _named(schema).values() if isinstance(a, OpStrategy)]
    return [Replicate() if r else None for r in results], [Replicate()] * len(tensors)


_RULES: dict[str, tuple[Callable[[OpSchema], list[Row]], Sequence[bool]]] = {
    "npu_swiglu": (_swiglu, [True]),
    "npu_swiglu_backward": (_swiglu_backward, [True]),
    "npu_rms_norm": (_rms_norm, [True] * 2),
    "npu_rms_norm_backward": (_rms_norm_backward, [True] * 2),
    "npu_rotary_mul": (_rotary_mul, [True]),
    "npu_rotary_mul_backward": (_rotary_mul_backward, [True] * 3),
    "npu_fusion_attention": (_attention, [True] * 4 + [False] * 3),
    "npu_fusion_attention_grad": (_attention_grad, [True] * 5),
}


def _strategy(
    rule: Callable[[OpSchema], list[Row]], results: Sequence[bool]
) -> Callable[[OpSchema], OpStrategy]:
    def of(schema: OpSchema) -> OpStrategy:
        whole = _replicated(schema, results)
        if schema.op is _OPS.npu_fusion_attention_grad.default and not isinstance(
            _named(schema).get("pse"), OpStrategy
        ):
            whole[0][3] = None  # no gradient of a bias that is not given
        rows = [[*row[0], *row[1]] for row in (whole, *rule(schema))]
        return expand_to_full_mesh_op_strategy(
            schema.get_mesh_from_args(), schema, rows, input_index=len(results)
        )

    return of


def register() -> None:
    """Makes the operators known to DTensor."""
    for name, (rule, results) in _RULES.items():
        op = getattr(_OPS, name).default
        named = [a.name for a in op._schema.arguments if a.kwarg_only]
        register_op_strategy(op, schema_info=RuntimeSchemaInfo(1, named or None))(
            _strategy(rule, results)
        )
