"""Rules of ``torch.func.vmap`` for operators without one in PyTorch."""

import torch
from torch import Tensor
from torch._functorch.autograd_function import VmapInfo

_BIAS = 3  # index of the bias among the forward operator's arguments
_OPERATOR = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
_BACKWARD = torch.ops.aten._scaled_dot_product_fused_attention_overrideable_backward.default


def _mapped(x: Tensor, dim: int | None, size: int) -> Tensor:
    """``x`` with the mapped dimension first; expanded if it is not mapped."""
    return x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)


def _fold(x: Tensor | None, dim: int | None, size: int) -> Tensor | None:
    """[mapped, batch, ...] as [mapped * batch, ...]."""
    return None if x is None else _mapped(x, dim, size).flatten(0, 1)


def _fold_bias(x: Tensor | None, dim: int | None, size: int, batch: int) -> Tensor | None:
    """A bias broadcast to [batch, heads, queries, keys], with the whole batch."""
    if x is None:
        return None
    x = _mapped(x, dim, size)
    while x.dim() < 5:
        x = x.unsqueeze(1)
    return x.expand(size, batch, *x.shape[2:]).flatten(0, 1)


def _unfold(results: tuple, size: int) -> tuple[tuple, tuple]:
    """The results with their mapped dimension first, and the positions of those dimensions."""
    tensors = tuple(x.unflatten(0, (size, -1)) if isinstance(x, Tensor) else x for x in results)
    return tensors, tuple(0 if isinstance(x, Tensor) else None for x in results)


def _batch(query: Tensor, dim: int | None) -> int:
    """The size of the query's first dimension other than the mapped one."""
    return query.shape[1 if dim == 0 else 0]


def _attention(
    info: VmapInfo,
    dims: tuple,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    *options: object,
    **named: object,
) -> tuple[tuple, tuple]:
    """Folds the mapped dimension into the batch."""
    size = info.batch_size
    inputs = (_fold(x, dim, size) for x, dim in zip((query, key, value), dims, strict=False))
    folded_bias = _fold_bias(
        bias, dims[_BIAS] if len(dims) > _BIAS else None, size, _batch(query, dims[0])
    )
    return _unfold(_OPERATOR(*inputs, folded_bias, *options, **named), size)


def _attention_backward(
    info: VmapInfo, dims: tuple, *operands: object, **named: object
) -> tuple[tuple, tuple]:
    """Sums the gradient of a bias over its broadcast dimensions, separately for each mapped index."""
    size = info.batch_size
    bias, bias_dim = operands[_BIAS + 1], dims[_BIAS + 1]
    batch = _batch(operands[1], dims[1])  # type: ignore[arg-type]
    folded = [
        _fold(x, dim, size) if isinstance(x, Tensor) else x
        for x, dim in zip(operands, dims, strict=True)
    ]
    folded[_BIAS + 1] = _fold_bias(bias, bias_dim, size, batch)  # type: ignore[arg-type]
    (*gradients, of_bias), out_dims = _unfold(_BACKWARD(*folded, **named), size)
    if of_bias is not None:
        shape = _mapped(bias, bias_dim, size).shape  # type: ignore[arg-type]
        padded = (size, *(1,) * (5 - len(shape)), *shape[1:])
        of_bias = of_bias.sum_to_size(padded).reshape(shape)
    return (*gradients, of_bias), out_dims


def register() -> None:
    """Registers the rules with PyTorch, once."""
    torch.library.register_vmap(_OPERATOR, _attention)
    torch.library.register_vmap(_BACKWARD, _attention_backward)
