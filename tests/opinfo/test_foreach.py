"""Operators on lists of tensors: PyTorch's own cases, on npu against the CPU."""

from copy import copy

import pytest
import torch
from seeding import seed_all
from torch.testing._internal import common_methods_invocations as invocations
from torch.utils._pytree import tree_flatten, tree_map

import torch_npu
from opinfo.cases import check_in_device_memory, on_npu, to_device
from torch_npu.accuracy import judge
from torch_npu.accuracy.rounding import changed

OPERATORS = [
    op
    for kind in ("unary", "binary", "pointwise", "reduce", "other")
    for op in getattr(invocations, f"foreach_{kind}_op_db")
]
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64)


def run(call, sample, device: str):
    """The results and the tensors that were written, or the exception."""
    arguments = to_device((sample.input, sample.args), device)
    arguments = tree_map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, arguments)
    seed_all(0)
    try:
        return call(arguments[0], *arguments[1], **sample.kwargs), arguments[0]
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return error


def rule_of(call, sample) -> judge.Rule:
    """The same rule for operators on elements and for operators on whole tensors."""

    def in_double(change):
        widened = copy(sample)
        given = to_device((sample.input, sample.args, sample.kwargs), "cpu")
        widened.input, widened.args, widened.kwargs = changed(given, change)
        return run(call, widened, "cpu")

    given = tree_flatten((sample.input, sample.args))[0]
    return judge.Rule(run=in_double, given=tuple(t for t in given if isinstance(t, torch.Tensor)))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_lists(op, dtype: torch.dtype) -> None:
    if dtype not in op.supported_dtypes("cpu"):
        pytest.skip("the CPU does not have it")
    compared = 0
    for sample in op.sample_inputs("npu", dtype, noncontiguous=False):
        for call in (op.method_variant, op.inplace_variant):
            if call is None:
                continue
            expected, actual = (run(call, sample, device) for device in ("cpu", "npu"))
            if isinstance(expected, Exception):
                assert isinstance(actual, Exception), (
                    f"the CPU refuses this ({expected}), npu does not"
                )
                continue
            if isinstance(actual, Exception):
                raise actual
            on_npu(expected, actual)
            check_in_device_memory(actual)
            judge.check_same(expected, actual, rule_of(call, sample))
            compared += 1
    if compared == 0:
        pytest.skip("the CPU refuses it")


def test_each_foreach_call_is_one_launch() -> None:
    lists = [[torch.randn(3, 2, device="npu") for _ in range(20)] for _ in range(3)]
    native = torch_npu._C
    for work in (
        lambda: torch._foreach_add(lists[0], lists[1], alpha=2),
        lambda: torch._foreach_mul_(lists[0], 0.5),
        lambda: torch._foreach_addcmul_(lists[0], lists[1], lists[2], [0.5] * 20),
        lambda: torch._foreach_norm(lists[0]),
        lambda: torch._foreach_mul_(lists[0], torch.tensor(2.0, device="npu")),
    ):
        before = native.aclnn_launches()
        work()
        assert native.aclnn_launches() == before + 1


def test_partly_overlapping_lists_are_refused() -> None:
    x = torch.zeros(10, device="npu")
    with pytest.raises(RuntimeError, match="single memory location"):
        torch._foreach_add_([x[:8]], [x[1:9]])
