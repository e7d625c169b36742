"""What an OpInfo promises beside its plain call, each on npu against the CPU: strided inputs, out=, in-place, gradients.

Where the CPU refuses a sample, npu has to refuse it, too; everything else is compared.
"""

import warnings
from collections.abc import Callable

import torch
from torch.utils._pytree import tree_flatten, tree_map

from opinfo import cases, judge
from opinfo.tolerances import error_of


class NotApplicableError(Exception):
    """The OpInfo does not have this variant for this dtype."""


def _attempt(work: Callable[[], object]) -> tuple[object, BaseException | None]:
    try:
        return work(), None
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        return None, error
    except AssertionError as error:
        if "only supported on CUDA" not in str(error):
            raise
        return None, error


def _both(op, sample, work: Callable[[object, str], object], reference=None) -> bool:
    """Compares ``work(arguments, device)`` on npu with the CPU; False where the CPU refuses it.

    ``reference`` is the work that gives the result in float64, if it is another.
    """
    results = {}
    for device in ("cpu", "npu"):
        torch.manual_seed(0)
        arguments = cases.to_device((sample.input, sample.args, sample.kwargs), device)
        with cases.SameKernels() as same:
            results[device] = _attempt(lambda a=arguments, d=device: work(a, d))
    (expected, refusal), (actual, error) = results["cpu"], results["npu"]
    if "only supported on CUDA" in str(refusal):
        raise cases.UnsupportedError(str(refusal))
    if refusal is not None:
        assert error is not None, f"the CPU refuses this ({refusal}), npu does not"
        return False
    if error is not None:
        raise error
    same.check_none_refused()
    cases.check_in_device_memory(actual)
    cases.on_npu(expected, actual)
    if op.name not in cases.RANDOM | cases.UNINITIALISED:
        exact = same.alone and op.name not in cases.OTHER_ROUNDING

        def in_float64():
            torch.manual_seed(0)
            arguments = cases.to_device((sample.input, sample.args, sample.kwargs), "cpu")
            return (reference or work)(judge.in_float64(arguments), "cpu")

        judge.check_same(op, sample, expected, actual, error_of(op, sample), exact, in_float64)
    return True


def samples(op, dtype: torch.dtype) -> int:
    """The plain call."""
    return cases.run_op(op, dtype)


def noncontiguous(op, dtype: torch.dtype) -> int:
    """The same samples with gaps between their elements."""
    if op.name.startswith("sparse."):
        raise NotApplicableError  # sparse samples have no strides
    return sum(_plain(op, s.noncontiguous()) for s in op.sample_inputs("npu", dtype))


def _plain(op, sample) -> bool:
    def call(a, _):
        return sample.output_process_fn_grad(op.op(a[0], *a[1], **a[2]))

    return _both(op, sample, call)


def out(op, dtype: torch.dtype) -> int:
    """``out=`` of the right shape, with strides of its own, and empty, which has to be resized."""
    if not op.supports_out:
        raise NotApplicableError
    return sum(
        _out(op, sample, make)
        for sample in op.sample_inputs("npu", dtype)
        for make in (_strided_like, _empty_like)
    )


def _out(op, sample, make) -> bool:
    expected, refusal = _attempt(lambda: cases.run_on(op, sample, "cpu"))
    single = isinstance(expected, torch.Tensor)
    flat = (expected,) if single else expected
    if refusal is not None or not isinstance(flat, tuple | list):
        return False
    if not all(isinstance(t, torch.Tensor) and t.layout == torch.strided for t in flat):
        return False

    def call(a, device):
        outs = tuple(make(t, device) for t in flat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that out was resized
            result = op.op(a[0], *a[1], **a[2], out=outs[0] if single else outs)
        given = (result,) if single else tuple(result)
        assert all(g is o for g, o in zip(given, outs, strict=True))
        return outs

    def plain(a, _):
        result = op.op(a[0], *a[1], **a[2])
        return (result,) if single else tuple(result)

    return _both(op, sample, call, plain)


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
    return sum(_both(op, sample, call) for sample in samples if not sample.broadcasts_input)


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
    return sum(
        _both(op, sample, lambda a, _, s=sample: work(op, s, a))
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


ALL = {f.__name__: f for f in (samples, noncontiguous, out, inplace, reverse, forward)}
