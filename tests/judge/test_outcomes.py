"""The outcome of a case: values are compared unless the CPU draws random numbers, and a refused case does not pass."""

from types import SimpleNamespace

import pytest
import torch
from opinfo import __main__ as runner
from opinfo import cases, variants
from torch.nn import functional as F
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput


def record_of(run) -> dict:
    return runner.run_case(runner.Case("op", torch.float32, "samples", run))


def test_a_case_that_the_cpu_refuses_does_not_pass():
    assert record_of(lambda: cases.total([True, False]))["outcome"] == "passed"
    assert record_of(lambda: cases.total([True, False]))["samples"] == 1
    assert record_of(lambda: cases.total([False, False]))["outcome"] == "refused"
    assert record_of(lambda: cases.total([False, None]))["outcome"] == "refused"
    assert record_of(lambda: cases.total([None]))["outcome"] == "not applicable"
    assert record_of(lambda: cases.total([]))["outcome"] == "not applicable"


def sample(*args, **kwargs) -> SampleInput:
    return SampleInput(torch.ones(2, 4, 3, 8, device="npu"), args=args, kwargs=kwargs)


def outcome(work, name: str = "some operator", given: SampleInput | None = None) -> bool | None:
    return cases.compare(SimpleNamespace(name=name), given or sample(), work)


def refuse(a, device: str):
    raise RuntimeError("no")


def test_what_the_cpu_refuses_npu_has_to_refuse():
    assert outcome(refuse) is False
    with pytest.raises(AssertionError, match="npu does not"):
        outcome(lambda a, device: refuse(a, device) if device == "cpu" else a[0])
    with pytest.raises(RuntimeError, match="no"):
        outcome(lambda a, device: refuse(a, device) if device == "npu" else a[0])
    assert outcome(lambda a, device: []) is None


def attention(dropout: float, factor: float):
    def work(a, device: str):
        result = F.scaled_dot_product_attention(a[0], a[0], a[0], dropout_p=dropout)
        return result * factor if device == "npu" else result

    return work


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_attention_is_compared_with_dropout_and_without(dropout):
    name = "nn.functional.scaled_dot_product_attention"
    assert outcome(attention(dropout, 1), name) is True
    with pytest.raises(AssertionError):
        outcome(attention(dropout, 1.1), name)


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_random_draws_without_effect_are_compared(chance):
    def work(wrong: float):
        return lambda a, device: torch.bernoulli(a[0] * chance) + (wrong if device == "npu" else 0)

    assert outcome(work(0), "bernoulli") is True
    with pytest.raises(AssertionError):
        outcome(work(1e-3), "bernoulli")


@pytest.mark.parametrize(
    "name", ["normal", "nn.functional.dropout", "bernoulli", "uniform", "nn.functional.rrelu"]
)
@pytest.mark.parametrize("variant", ["samples", "noncontiguous"])
def test_zeros_instead_of_random_numbers_are_refused(name, variant, monkeypatch):
    """For these operators every sample that draws random numbers is refused if npu gives zeros."""
    (op, *_) = (op for op in op_db if op.name == name)
    monkeypatch.setattr(op, "op", zeros_on_npu(op.op))
    with pytest.raises(AssertionError):
        variants.ALL[variant](op, torch.float32)


def zeros_on_npu(op):
    def planted(x, *args, **kwargs):
        result = op(x, *args, **kwargs)
        return result * 0 if result.device.type == "npu" else result

    return planted


@pytest.mark.parametrize(
    "name", ["nn.Transformer", "nn.TransformerEncoderLayer", "nn.MultiheadAttention"]
)
def test_modules_without_dropout_are_compared(name, monkeypatch):
    from modules import cases as modules
    from torch.testing._internal.common_modules import module_db

    (info,) = (info for info in module_db if info.name == name)
    run = modules.Pass.run

    def planted(self, device="cpu", *args):
        outputs, gradients = run(self, device, *args)
        return [o * 1.01 for o in outputs] if device == "npu" else outputs, gradients

    monkeypatch.setattr(modules.Pass, "run", planted)
    with pytest.raises(AssertionError):
        modules.check(info, torch.float32, training=True, layout="dense")
