"""The variants of an OpInfo, each on npu against the CPU: strided inputs, layouts, out=, in-place, gradients.

npu must refuse a sample that the CPU refuses; all other samples are compared.
"""

import warnings
from collections.abc import Callable

import torch
from torch.utils._pytree import tree_flatten, tree_map

from opinfo import cases
from opinfo.cases import NotApplicableError, compare, plain, total
from opinfo.laid_out import layouts


def samples(op, dtype: torch.dtype) -> int:
    """The plain call."""
    return cases.run_op(op, dtype)


def noncontiguous(op, dtype: torch.dtype) -> int:
    """The same samples with gaps between their elements."""
    if op.name.startswith("sparse."):
        raise NotApplicableError  # sparse samples have no strides
    return total(plain(op, s.noncontiguous()) for s in op.sample_inputs("npu", dtype))


def out(op, dtype: torch.dtype) -> int:
    """``out=`` with the right shape and other strides, and empty, which must be resized."""
    if not op.supports_out:
        raise NotApplicableError
    return total(
        _out(op, sample, make)
        for sample in op.sample_inputs("npu", dtype)
        for make in (_strided_like, _empty_like)
    )


def _has_dense_results(flat: object) -> bool:
    return isinstance(flat, tuple | list) and all(
        isinstance(t, torch.Tensor) and t.layout == torch.strided for t in flat
    )


def _out(op, sample, make) -> bool | None:
    arguments = cases.to_device((sample.input, sample.args, sample.kwargs), "cpu")
    expected, refusal = cases.attempt(lambda: op.op(arguments[0], *arguments[1], **arguments[2]))
    single = isinstance(expected, torch.Tensor)
    flat = (expected,) if single else expected
    if refusal is not None:
        return plain(op, sample)  # npu must refuse it, too
    if not _has_dense_results(flat):
        return None

    def call(a, device):
        outs = tuple(make(t, device) for t in flat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the resized out
            result = op.op(a[0], *a[1], **a[2], out=outs[0] if single else outs)
        given = (result,) if single else tuple(result)
        assert all(g is o for g, o in zip(given, outs, strict=True))
        return outs

    def without_out(a, _):
        result = op.op(a[0], *a[1], **a[2])
        return (result,) if single else tuple(result)

    return compare(op, sample, call, without_out)


def _strided_like(t: torch.Tensor, device: str) -> torch.Tensor:
    if t.dim() == 0 or t.numel() == 0:
        return torch.zeros_like(t, device=device)
    return torch.zeros((*t.shape[:-1], 2 * t.shape[-1]), dtype=t.dtype, device=device)[..., ::2]


def _empty_like(t: torch.Tensor, device: str) -> torch.Tensor:
    return torch.empty(0, dtype=t.dtype, device=device)


def inplace(op, dtype: torch.dtype) -> int:
    """The method with the underscore."""
    method = op.inplace_variant
    if method is None:
        raise NotApplicableError

    def call(a, _):
        given = tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, a[0])
        result = method(given, *a[1], **a[2])
        if isinstance(given, torch.Tensor):
            assert result is given
        return given

    samples = op.sample_inputs("npu", dtype)
    return total(compare(op, sample, call) for sample in samples if not sample.broadcasts_input)


def _differentiable(tree) -> list[torch.Tensor]:
    return [t for t in tree_flatten(tree)[0] if isinstance(t, torch.Tensor) and t.requires_grad]


def _backward(op, sample, a) -> list:
    result = sample.output_process_fn_grad(op.gradcheck_wrapper(op.op, a[0], *a[1], **a[2]))
    roots = [t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor) and t.requires_grad]
    inputs = _differentiable(a)
    if not roots or not inputs:
        return []
    seeds = [torch.ones_like(t) for t in roots]
    return list(torch.autograd.grad(roots, inputs, seeds, allow_unused=True))


def _gradients(op, dtype: torch.dtype, supported: bool, work: Callable) -> int:
    if not supported or dtype not in op.supported_backward_dtypes("cpu"):
        raise NotApplicableError
    return total(
        compare(op, sample, lambda a, _, s=sample: work(op, s, a), derivative=True)
        for sample in op.sample_inputs("npu", dtype, requires_grad=True)
    )


def reverse(op, dtype: torch.dtype) -> int:
    """Reverse-mode gradients of a sum of the results."""
    return _gradients(op, dtype, op.supports_autograd, _backward)


def _forward(op, sample, a) -> list:
    from torch.autograd import forward_ad

    with forward_ad.dual_level():

        def dual(t):
            if isinstance(t, torch.Tensor) and t.requires_grad:
                return forward_ad.make_dual(t.detach(), torch.ones_like(t))
            return t

        b = tree_map(dual, a)
        result = sample.output_process_fn_grad(op.gradcheck_wrapper(op.op, b[0], *b[1], **b[2]))
        tensors = [t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor)]
        return [forward_ad.unpack_dual(t).tangent for t in tensors if t.layout == torch.strided]


def forward(op, dtype: torch.dtype) -> int:
    """Forward-mode gradients along a direction of ones."""
    return _gradients(op, dtype, op.supports_forward_ad, _forward)


ALL = {f.__name__: f for f in (samples, noncontiguous, layouts, out, inplace, reverse, forward)}
