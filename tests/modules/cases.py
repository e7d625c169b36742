"""One ModuleInfo on npu against the CPU: forward and backward, train and eval, dense and strided inputs."""

from functools import partial

import torch
from opinfo.cases import SameKernels, UnsupportedError, check_in_device_memory, copy_to
from torch.utils._pytree import tree_flatten, tree_map

# Results depend on the generator: shapes are compared.
RANDOM = ("Dropout", "RReLU", "MultiheadAttention", "Transformer")

# PyTorch computes these otherwise on the CPU than elsewhere: fused attention, recurrent layers in one operator, a
# chunked cross entropy. All others give the same bits where no aclnn operator takes part.
OTHER_ROUNDING = ("Transformer", "RNN", "GRU", "LSTM", "LinearCrossEntropyLoss")


def strided(t):
    """The same numbers with gaps between them; integers and what has no dimension stay as they are."""
    # Integers stay dense: the CPU's CTC loss reads lengths with gaps as if there were none.
    if not isinstance(t, torch.Tensor) or not (t.is_floating_point() or t.is_complex()):
        return t
    if t.numel() == 0 or t.dim() == 0:
        return t
    wide = torch.empty((*t.shape[:-1], 2 * t.shape[-1]), dtype=t.dtype, device=t.device)
    view = wide[..., ::2]
    view.copy_(t.detach())
    return view.requires_grad_(t.requires_grad)


def _to(device: str, tree):
    def move(t):
        if not isinstance(t, torch.Tensor):
            return t
        # Not t.to(): it would make strided inputs dense.
        return copy_to(t, device).requires_grad_(t.requires_grad)

    return tree_map(move, tree)


def _samples(info, dtype: torch.dtype, training: bool) -> list:
    samples = info.module_inputs_func(
        info, device="cpu", dtype=dtype, requires_grad=True, training=training
    )
    for case in samples:
        # PyTorch makes FractionalMaxPool's in float64, whatever the dtype, and its kernel refuses that.
        kwargs = case.constructor_input.kwargs
        if "_random_samples" in kwargs:
            kwargs["_random_samples"] = kwargs["_random_samples"].to(dtype)
    return samples


def _module(info, case, dtype: torch.dtype, device: str, training: bool) -> torch.nn.Module:
    torch.manual_seed(0)
    ctor = case.constructor_input
    module = info.module_cls(*ctor.args, **ctor.kwargs).to(dtype).train(training)
    if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
        module(*_to("cpu", case.forward_input.args))  # a lazy module draws its weights here
    return module.to(device)


def _tensors(tree) -> list[torch.Tensor]:
    return [t for t in tree_flatten(tree)[0] if isinstance(t, torch.Tensor)]


def run(info, case, dtype, device: str, training: bool, layout: str) -> tuple[list, list]:
    """Outputs of one sample; gradients of its inputs and parameters."""
    module = _module(info, case, dtype, device, training)
    args, kwargs = case.forward_input.args, case.forward_input.kwargs
    if layout == "strided":
        args, kwargs = tree_map(strided, (args, kwargs))
    args, kwargs = _to(device, (args, kwargs))
    torch.manual_seed(0)
    outputs = _tensors(module(*args, **kwargs))
    assert all(t.device.type == device for t in outputs)
    roots = [t for t in outputs if t.requires_grad]
    if not roots:
        return outputs, []
    leaves = [t for t in (*_tensors((args, kwargs)), *module.parameters()) if t.requires_grad]
    # Not ones: behind a normalisation their gradients are 0, whatever stands before it.
    seeds = [torch.randn(t.shape, dtype=t.dtype).to(device) for t in roots]
    return outputs, list(torch.autograd.grad(roots, leaves, seeds, allow_unused=True))


def _largest(tensors: list) -> float:
    """The largest magnitude in ``tensors``; 1 at least, the size of the seeds of the backward pass."""
    numbers = [t for t in tensors if t is not None and t.numel() and t.dtype != torch.bool]
    return max([1.0, *(float(t.detach().abs().nan_to_num(0, 0, 0).max()) for t in numbers)])


def rounding_error(info, case, dtype: torch.dtype, results: list) -> float:
    """What two orders of the same sums differ by at most.

    A layer with weights is off by one rounding for each term of its longest sum, in float32 at least, and by four of
    its results (product, bias, activation, reduction). A number is as large as the largest of the pass: results may be
    small because large ones cancel. Layers behind a layer may magnify its error fourfold more.
    """
    module = _module(info, case, dtype, "cpu", training=False)
    given = [*module.parameters(), *_tensors((case.forward_input.args, case.forward_input.kwargs))]
    terms = max((n for t in given for n in t.shape), default=1)
    layers = sum(1 for m in module.modules() if any(True for _ in m.parameters(recurse=False)))
    eps = torch.finfo(dtype).eps
    roundings = 4 * eps + terms * min(eps, torch.finfo(torch.float32).eps)
    return roundings * (4 * layers if layers > 1 else 1) * _largest([*given, *results])


def compare(expected: list, actual: list, tolerance: float | None) -> None:
    """The same shapes; values within ``tolerance``, the same bits where it is 0. ``None`` leaves the values out."""
    assert len(expected) == len(actual)
    for e, a in zip(expected, actual, strict=True):
        assert (e is None) == (a is None)
        if e is None:
            continue
        assert (a.shape, a.dtype, a.layout) == (e.shape, e.dtype, e.layout)
        if tolerance is not None:
            torch.testing.assert_close(a.cpu(), e, rtol=0, atol=tolerance, equal_nan=True)


def check(info, dtype: torch.dtype, *, training: bool, layout: str) -> int:
    """Runs all samples of ``info``; returns the number of those that the CPU runs. What it refuses npu refuses, too.

    Raises UnsupportedError where the CPU refuses them all.
    """
    count = 0
    random = training and any(name in info.name for name in RANDOM)
    other_rounding = any(name in info.name for name in OTHER_ROUNDING)
    for case in _samples(info, dtype, training):
        try:
            expected = run(info, case, dtype, "cpu", training, layout)
        except (RuntimeError, ValueError) as refusal:
            try:
                run(info, case, dtype, "npu", training, layout)
            except (RuntimeError, ValueError):
                continue
            raise AssertionError(f"the CPU refuses this ({refusal}), npu does not") from None
        with SameKernels() as same:
            actual = run(info, case, dtype, "npu", training, layout)
        check_in_device_memory(actual)
        results = [*expected[0], *expected[1]]
        exact = same.alone and not other_rounding
        tolerance = 0.0 if exact else rounding_error(info, case, dtype, results)
        for e, a in zip(expected, actual, strict=True):
            compare(e, a, None if random else tolerance)
        count += 1
    if count == 0:
        raise UnsupportedError("the CPU refuses every sample, and so does npu")
    return count


ALL = {
    f"module {'train' if training else 'eval'} {layout}": partial(
        check, training=training, layout=layout
    )
    for training in (False, True)
    for layout in ("dense", "strided")
}
