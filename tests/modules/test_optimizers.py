"""PyTorch's OptimizerInfos on npu against the CPU: every configuration, all implementations, ten steps."""

import re

import pytest
import torch
from opinfo.cases import attempt
from seeding import seed_all
from torch.testing._internal.common_optimizers import optim_db
from torch.utils._pytree import tree_map

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance, judge
from torch_npu.accuracy.rounding import Change, changed


def variants():
    for info in optim_db:
        for implementation in ("forloop", *info.supported_impls):
            if implementation in ("forloop", "foreach", "fused"):
                yield pytest.param(
                    info, implementation, id=f"{info.optim_cls.__name__}-{implementation}"
                )


def on(device: str, value: object):
    """Tensors among an optimizer's arguments, such as learning rates, on its device."""
    return tree_map(lambda v: v.to(device) if isinstance(v, torch.Tensor) else v, value)


def train(info, kwargs, device: str, change: Change | None = None) -> list[torch.Tensor]:
    """Weights and state after ten steps; in double precision if a ``change`` of the initial values is given."""
    generator = torch.Generator().manual_seed(0)
    drawn = [torch.randn(shape, generator=generator).to(device) for shape in ((5, 4), (5,), (4,))]
    if change is not None:
        drawn = changed(drawn, change)
    weight, bias, x = drawn
    weight, bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
    optimizer = info.optim_cls([weight, bias], **on(device, kwargs))

    def closure():
        optimizer.zero_grad()
        loss = (weight.mv(x) + bias).square().sum()
        loss.backward()
        return loss

    for _ in range(1 if info.optim_cls is torch.optim.LBFGS else 10):
        optimizer.step(closure)
    state = [t for s in optimizer.state.values() for t in s.values() if isinstance(t, torch.Tensor)]
    return [weight.detach(), bias.detach(), *state]


@pytest.mark.parametrize(("info", "implementation"), list(dict.fromkeys(variants())))
def test_optimizer(info, implementation):
    if info.optim_cls is torch.optim.SparseAdam:
        pytest.skip("takes sparse gradients: test_sparse_adam")
    if info.optim_cls.__name__ == "Muon":
        pytest.skip("takes matrices only: test_muon")
    for config in info.optim_inputs_func(device="npu"):
        kwargs = dict(config.kwargs)
        if info.optim_cls is torch.optim.LBFGS:
            kwargs["max_iter"] = 2  # the state after convergence is differences of roundings
        if implementation != "forloop":
            kwargs[implementation] = True
        if kwargs.get("fused") and (kwargs.get("foreach") or kwargs.get("differentiable")):
            with pytest.raises(RuntimeError, match="fused"):
                train(info, kwargs, "npu")
            continue
        # The fused kernels of the CPU round differently from its loops.
        on_cpu = {**kwargs, "fused": False} if "fused" in kwargs else kwargs
        expected, refusal = attempt(lambda k=on_cpu: train(info, k, "cpu"))
        if refusal is not None:
            with pytest.raises(type(refusal), match=re.escape(str(refusal))):
                train(info, kwargs, "npu")
            continue
        rule = judge.Rule(
            run=lambda change, k=on_cpu: train(info, k, "cpu", change), given=tuple(expected)
        )
        judge.check_same(expected, train(info, kwargs, "npu"), rule)


def test_sparse_adam():
    def train_embedding(device):
        seed_all(0)
        table = torch.nn.Embedding(10, 3, sparse=True).to(device)
        optimizer = torch.optim.SparseAdam(list(table.parameters()))
        for _ in range(5):
            optimizer.zero_grad()
            table(torch.tensor([1, 3, 3, 7], device=device)).square().sum().backward()
            optimizer.step()
        return table.weight.detach()

    torch.testing.assert_close(train_embedding("npu").cpu(), train_embedding("cpu"))


def test_muon():
    def train_matrix(device):
        seed_all(0)
        weight = torch.nn.Parameter(torch.randn(6, 4).to(device))
        x = torch.randn(4).to(device)
        optimizer = torch.optim.Muon([weight])
        for _ in range(5):
            optimizer.zero_grad()
            weight.mv(x).square().sum().backward()
            optimizer.step()
        return weight.detach()

    # Newton-Schulz iterates in bfloat16.
    accuracy.assert_close(
        train_matrix("npu"), train_matrix("cpu"), Tolerance(2e-2, 2e-2), equal_nan=False
    )
