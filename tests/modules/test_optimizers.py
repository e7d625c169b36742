"""PyTorch's OptimizerInfos on npu against the CPU: every configuration, all implementations, ten steps."""

import pytest
import torch
from torch.testing._internal.common_optimizers import optim_db


def variants():
    for info in optim_db:
        for implementation in ("forloop", *info.supported_impls):
            if implementation in ("forloop", "foreach", "fused"):
                yield pytest.param(
                    info, implementation, id=f"{info.optim_cls.__name__}-{implementation}"
                )


def train(info, kwargs, device: str, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.randn(5, 4).to(device, dtype))
    bias = torch.nn.Parameter(torch.randn(5).to(device, dtype))
    x = torch.randn(4).to(device, dtype)
    optimizer = info.optim_cls([weight, bias], **kwargs)

    def closure():
        optimizer.zero_grad()
        loss = (weight.mv(x) + bias).square().sum()
        loss.backward()
        return loss

    for _ in range(10):
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
        if implementation != "forloop":
            kwargs[implementation] = True
        if kwargs.get("fused") and (kwargs.get("foreach") or kwargs.get("differentiable")):
            continue
        if any(isinstance(v, torch.Tensor) for v in kwargs.values()):
            continue  # a tensor as the learning rate: the same tensor cannot serve both devices
        on_cpu = {**kwargs, "fused": False} if "fused" in kwargs else kwargs
        expected = train(info, on_cpu, "cpu")
        actual = train(info, kwargs, "npu")
        assert len(actual) == len(expected)
        try:
            for e, a in zip(expected, actual, strict=True):
                torch.testing.assert_close(a.cpu(), e, rtol=1e-4, atol=1e-5)
        except AssertionError:
            wide = train(info, on_cpu, "cpu", torch.float64)
            if not as_accurate(expected, actual, wide):
                raise


def as_accurate(expected, actual, wide) -> bool:
    """Whether each tensor is as near to float64 as the CPU's, up to a factor of two and one rounding: LBFGS divides by
    differences of gradients."""

    def error(found: torch.Tensor, w: torch.Tensor) -> float:
        return (found.cpu().double() - w.double()).abs().max().item()

    eps = torch.finfo(torch.float32).eps
    return all(
        error(a, w) <= 2 * error(e, w) + eps * w.abs().max().item()
        for e, a, w in zip(expected, actual, wide, strict=True)
    )


def test_sparse_adam():
    def train_embedding(device):
        torch.manual_seed(0)
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
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.randn(6, 4).to(device))
        x = torch.randn(4).to(device)
        optimizer = torch.optim.Muon([weight])
        for _ in range(5):
            optimizer.zero_grad()
            weight.mv(x).square().sum().backward()
            optimizer.step()
        return weight.detach()

    # Newton-Schulz iterates in bfloat16.
    torch.testing.assert_close(train_matrix("npu").cpu(), train_matrix("cpu"), rtol=2e-2, atol=2e-2)
