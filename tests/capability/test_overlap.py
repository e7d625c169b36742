"""Results that share memory with other arguments: operators refuse them where the CPU does."""

import itertools

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

REFUSAL = "unsupported operation"
SAMPLES = 6
WHOLE = "whole"


def shared_memory(written: torch.Tensor, read: torch.Tensor, device: str):
    """Pairs of the two tensors' shapes on one memory: one element apart, and the same elements."""
    n, m = written.numel(), read.numel()
    fill = torch.ones if written.is_floating_point() else torch.zeros  # zeros are indices, too
    memory = fill(n + m + 1, dtype=written.dtype, device=device)
    yield "apart", memory[:n].view(written.shape), memory[1 : m + 1].view(read.shape)
    if written.shape == read.shape:
        whole = memory[:n].view(written.shape)
        yield WHOLE, whole, whole


def is_plain(value: object, dtype: torch.dtype) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == dtype and value.numel() > 1


def calls(op, dtype: torch.dtype, device: str):
    """(description, call) of each way in which a result shares memory with an argument."""
    for sample in itertools.islice(op.sample_inputs("cpu", dtype), SAMPLES):
        tensors = [sample.input, *sample.args]
        if not is_plain(sample.input, dtype):
            continue
        if any(isinstance(a, (list, tuple)) and any(isinstance(t, torch.Tensor) for t in a) for a in tensors):  # fmt: skip
            continue
        keywords = {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in sample.kwargs.items()}  # fmt: skip
        moved = [a.to(device) if isinstance(a, torch.Tensor) else a for a in tensors]
        for at, read in enumerate(tensors):
            if not is_plain(read, dtype):
                continue
            if at > 0 and op.inplace_variant is not None:
                for kind, self, other in shared_memory(sample.input, read, device):
                    arguments = [self, *moved[1:]]
                    arguments[at] = other
                    yield f"in place, {at}, {kind}", op.inplace_variant, arguments, keywords
            if op.supports_out:
                try:
                    result = op(sample.input, *sample.args, **sample.kwargs)
                except RuntimeError:
                    continue
                if not is_plain(result, dtype):
                    continue
                for kind, out, other in shared_memory(result, read, device):
                    arguments = list(moved)
                    arguments[at] = other
                    yield f"out, {at}, {kind}", op.op, arguments, {**keywords, "out": out}


def outcome(call, arguments, keywords) -> str:
    try:
        call(*arguments, **keywords)
    except Exception as error:
        if "ZeroDivisionError" in str(error):
            return "computed"  # integers divided by zeros in device memory give 0
        return REFUSAL if REFUSAL in str(error) else type(error).__name__
    return "computed"


def differences(op, dtype: torch.dtype) -> tuple[int, dict]:
    refused, wrong = 0, {}
    for on_cpu, on_npu in zip(calls(op, dtype, "cpu"), calls(op, dtype, "npu"), strict=True):
        expected, actual = outcome(*on_cpu[1:]), outcome(*on_npu[1:])
        refused += expected == REFUSAL
        # The CPU draws normal numbers into its result before it reads deviations there: some are negative.
        is_same = on_cpu[0].endswith(WHOLE) and op.name != "normal"
        if (expected == REFUSAL and actual != REFUSAL) or (is_same and expected != actual):
            wrong[on_cpu[0]] = (expected, actual)
    return (
        refused,
        wrong,
    )  # of elements one apart npu may refuse more: the CPU computes with what it overwrites


OPERATORS = [
    op
    for op in op_db
    if (op.inplace_variant is not None or op.supports_out)
    and not op.name.startswith(("linalg", "sparse", "nn.functional", "_refs"))
]
DTYPES = (torch.float32, torch.int64)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: f"{op.name}-{op.variant_test_name}")
def test_refused_as_on_the_cpu(op):
    for dtype in DTYPES:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        _, wrong = differences(op, dtype)
        assert wrong == {}


def test_the_cases_are_refused_by_the_cpu():
    op = next(op for op in OPERATORS if op.name == "add")
    assert differences(op, torch.float32)[0] >= SAMPLES


def test_copies():
    x = torch.arange(8.0, device="npu")
    with pytest.raises(RuntimeError, match=REFUSAL):
        x[1:].copy_(x[:-1])
    with pytest.raises(RuntimeError, match=REFUSAL):
        x[1:] = x[:-1]
    with pytest.raises(RuntimeError, match=REFUSAL):
        x[2:].copy_(x[:6].long().to(torch.float32).set_(x.untyped_storage(), 0, (6,), (1,)))
    with pytest.raises(RuntimeError, match=REFUSAL):
        x[:1].expand(4).copy_(torch.ones(4, device="npu"))
    assert x.tolist() == list(range(8))
    x.copy_(x)
    x[:4].copy_(x[4:])
    assert x.tolist() == [4, 5, 6, 7, 4, 5, 6, 7]


def test_indices_that_are_overwritten():
    for call in (
        lambda i: i.index_fill_(0, i, 0),
        lambda i: i.index_add_(0, i, i.clone()),
        lambda i: i.index_copy_(0, i, i.clone()),
        lambda i: i.scatter_(0, i, i.clone()),
        lambda i: i.put_(i, i.clone()),
        lambda i: i.index_put_((i,), i.clone()),
    ):
        index = torch.tensor([2, 1, 0], device="npu")
        with pytest.raises(RuntimeError, match=REFUSAL):
            call(index)
        assert index.tolist() == [2, 1, 0]


def test_masks_that_are_overwritten():
    mask = torch.tensor([True, False, True, False], device="npu")
    with pytest.raises(RuntimeError, match=REFUSAL):
        mask[1:].masked_fill_(mask[:-1], False)
    assert mask.tolist() == [True, False, True, False]
