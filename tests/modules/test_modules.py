"""PyTorch's ModuleInfos on npu against the CPU: forward and backward, train and eval, strided inputs."""

import contextlib

import pytest
import torch
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_flatten, tree_map

# Results depend on the generator: shapes are compared.
RANDOM = {"Dropout", "FractionalMaxPool", "RReLU", "MultiheadAttention", "Transformer"}


def cases():
    for info in module_db:
        for training in (False, True):
            for layout in ("dense", "strided"):
                yield pytest.param(
                    info,
                    training,
                    layout,
                    id=f"{info.name}-{'train' if training else 'eval'}-{layout}",
                )


def strided(t):
    """The same numbers with gaps between them."""
    # Integers stay dense: the CPU's CTC loss reads lengths with gaps as if there were none.
    if (
        not isinstance(t, torch.Tensor)
        or not t.is_floating_point()
        or t.numel() == 0
        or t.dim() == 0
    ):
        return t
    wide = torch.empty((*t.shape[:-1], 2 * t.shape[-1]), dtype=t.dtype, device=t.device)
    view = wide[..., ::2]
    view.copy_(t.detach())
    return view.requires_grad_(t.requires_grad)


def to(device, tree):
    def move(t):
        if not isinstance(t, torch.Tensor):
            return t
        # Not t.to(): it would make strided inputs dense.
        copy = torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device=device)
        return copy.copy_(t.detach()).requires_grad_(t.requires_grad)

    return tree_map(move, tree)


def run(info, case, device, training, layout):
    """Outputs, input gradients and parameter gradients of one sample."""
    torch.manual_seed(0)
    ctor, forward = case.constructor_input, case.forward_input
    module = info.module_cls(*ctor.args, **ctor.kwargs).train(training)
    if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
        module(*to("cpu", forward.args))  # a lazy module draws its weights here
    module = module.to(device)
    args, kwargs = forward.args, forward.kwargs
    if layout == "strided":
        args, kwargs = tree_map(strided, (args, kwargs))
    args, kwargs = to(device, (args, kwargs))
    torch.manual_seed(0)
    output = module(*args, **kwargs)
    tensors = [t for t in tree_flatten(output)[0] if isinstance(t, torch.Tensor)]
    inputs = [
        t
        for t in tree_flatten((args, kwargs))[0]
        if isinstance(t, torch.Tensor) and t.requires_grad
    ]
    roots = [t for t in tensors if t.requires_grad]
    grads = []
    if roots:
        leaves = inputs + [p for p in module.parameters() if p.requires_grad]
        grads = torch.autograd.grad(
            roots, leaves, [torch.ones_like(t) for t in roots], allow_unused=True
        )
    assert all(t.device.type == device for t in tensors)
    return tensors, list(grads)


def compare(expected, actual, values: bool) -> None:
    assert len(expected) == len(actual)
    for e, a in zip(expected, actual, strict=True):
        assert (e is None) == (a is None)
        if e is None:
            continue
        assert (a.shape, a.dtype, a.layout) == (e.shape, e.dtype, e.layout)
        if values:
            # Long sums in another order: PyTorch's own tolerance for modules on devices.
            torch.testing.assert_close(a.cpu(), e.cpu(), rtol=1e-4, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize(("info", "training", "layout"), cases())
def test_module(info, training, layout):
    samples = info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
    )
    values = not (training and any(name in info.name for name in RANDOM))
    for case in samples:
        try:
            expected = run(info, case, "cpu", training, layout)
        except (RuntimeError, ValueError) as refusal:
            with contextlib.suppress(RuntimeError, ValueError):
                run(info, case, "npu", training, layout)
                pytest.fail(f"the CPU refuses this ({refusal}), npu does not")
            continue
        actual = run(info, case, "npu", training, layout)
        for e, a in zip(expected, actual, strict=True):
            compare(e, a, values)
