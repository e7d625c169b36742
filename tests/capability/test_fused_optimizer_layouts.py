"""Optimizers with fused=True on parameters, gradients and states in any layout: ATen's CPU kernels read and write them as
if all were dense and of one layout."""

import pytest
import torch

OPTIMIZERS = {
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "SGD": {"momentum": 0.9, "nesterov": True},
    "Adagrad": {},
}


def gaps(t):
    return torch.stack([t, torch.zeros_like(t)], -1)[..., 0]


LAYOUTS = {
    "dense": lambda t: t.clone(),
    "transposed": lambda t: t.t().contiguous().t(),
    "gaps": gaps,
    "gaps, transposed": lambda t: gaps(t.t()).t(),
    "expanded": lambda t: t[:1].clone().expand_as(t),
}


def stepped(name, parameter, gradient, device, **options):
    w = torch.nn.Parameter(parameter.clone() if device == "cpu" else moved(parameter))
    other = torch.nn.Parameter(torch.full((3,), 0.5, device=device))
    w.grad = gradient.clone() if device == "cpu" else moved(gradient)
    other.grad = torch.ones_like(other)
    optimizer = getattr(torch.optim, name)([w, other], lr=0.1, **OPTIMIZERS[name], **options)
    for _ in range(3):
        optimizer.step()
    return w.detach().cpu(), other.detach().cpu()


def moved(t):
    """On npu, with the strides of ``t``."""
    stored = torch.zeros(t.untyped_storage().nbytes() // t.itemsize, device="npu")
    out = stored.as_strided(t.shape, t.stride())
    (out if 0 not in t.stride() else out[:1]).copy_(t if 0 not in t.stride() else t[:1])
    return out


@pytest.mark.parametrize("fallback", ["npu", "cpu"])
@pytest.mark.parametrize("of_gradient", LAYOUTS)
@pytest.mark.parametrize("of_parameter", [name for name in LAYOUTS if name != "expanded"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fused_steps_are_those_of_dense_tensors(name, of_parameter, of_gradient, fallback):
    torch.manual_seed(1)
    parameter = LAYOUTS[of_parameter](torch.randn(5, 7))
    gradient = LAYOUTS[of_gradient](torch.randn(5, 7))
    expected = stepped(name, parameter.contiguous(), gradient.contiguous(), "cpu", fused=True)
    before = torch.npu.get_operator_fallback()
    torch.npu.set_operator_fallback(fallback)
    try:
        actual = stepped(name, parameter, gradient, "npu", fused=True)
    finally:
        torch.npu.set_operator_fallback(before)
    for e, a in zip(expected, actual, strict=True):
        assert torch.equal(e, a)


def test_elements_between_those_of_a_parameter_stay():
    stored = torch.ones(10, 2, device="npu")
    w = torch.nn.Parameter(stored[:, 0])
    w.grad = torch.ones(10, device="npu")
    torch.optim.AdamW([w], lr=0.5, weight_decay=0, fused=True).step()
    assert stored[:, 1].eq(1).all()
    assert stored[:, 0].ne(1).all()


def test_a_scaled_gradient_in_another_layout_is_unscaled():
    """With grad_scale the kernel writes the gradients."""
    grad = torch.full((4, 6), 8.0, device="npu").t()
    w = torch.zeros(6, 4, device="npu")
    torch._fused_sgd_(
        [w], [grad], [], weight_decay=0.0, momentum=0.0, lr=1.0, dampening=0.0, nesterov=False, maximize=False,
        is_first_step=True, grad_scale=torch.tensor(4.0, device="npu"), found_inf=torch.zeros(1, device="npu"),
    )  # fmt: skip
    assert grad.eq(2).all()
    assert w.eq(-2).all()


def test_a_parameter_whose_elements_share_memory_is_refused():
    w = torch.nn.Parameter(torch.ones(1, device="npu").expand(4))
    w.grad = torch.arange(4.0, device="npu")
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.optim.SGD([w], lr=0.1, fused=True).step()
