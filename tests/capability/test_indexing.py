"""Indexing by tensors, and operators whose result sizes depend on values, against the CPU."""

import numpy as np
import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.utils import explain

FORMS = {
    "first dimension": lambda i, j, m: (i,),
    "last dimension": lambda i, j, m: (..., i),
    "two that are broadcast": lambda i, j, m: (j, i),
    "whole dimension between": lambda i, j, m: (j, slice(None), i),
    "behind a slice": lambda i, j, m: (slice(1, 4), j),
    "new dimension": lambda i, j, m: (None, i, None),
    "mask": lambda i, j, m: (m,),
    "mask of all dimensions": lambda i, j, m: (m[..., None].expand(5, 6, 7),),
    "mask of one dimension": lambda i, j, m: (slice(None), m[0]),
    "negative": lambda i, j, m: (-1 - i,),
    "bytes": lambda i, j, m: (m.byte(),),
    "int32": lambda i, j, m: (i.int(),),
}
DTYPES = (torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.bool, torch.complex64)


def operands(dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """The indexed tensor, [5, 6, 7]; indices [3] and [2, 1] below 5; a mask [5, 6]."""
    torch.manual_seed(0)
    x = torch.randn(5, 6, 7).mul(10).to(dtype)
    return x, torch.tensor([0, 2, 4]), torch.tensor([[1], [3]]), x.sum(-1).real.float() > 0


def on_npu(key):
    """The same indices in device memory."""
    return tuple(k.npu() if isinstance(k, torch.Tensor) else k for k in key)


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("variant", FORMS)
def test_reads_and_writes(variant, dtype):
    x, i, j, m = operands(dtype)
    key = FORMS[variant](i, j, m)
    for x_cpu in (x, x.transpose(0, 1).contiguous().transpose(0, 1)):
        x_npu = x_cpu.npu()
        expected = x_cpu[key]
        assert torch.equal(x_npu[on_npu(key)].cpu(), expected)
        assert torch.equal(x_npu[key].cpu(), expected)  # indices in host memory
        one = (
            () if variant == "bytes" else (expected.new_ones(()),)
        )  # the CPU does not support filling by bytes
        for values in (expected.flip(-1), *one):
            written, on_device = x_cpu.clone(), x_npu.clone()
            written[key] = values
            on_device[on_npu(key)] = values.npu()
            assert torch.equal(on_device.cpu(), written)


def test_values_add_up():
    index = torch.randint(10, (1000,))
    values = torch.randn(1000, 3)
    expected = torch.zeros(10, 3).index_put_((index,), values, accumulate=True)
    found = torch.zeros(10, 3, device="npu")
    found.index_put_((index.npu(),), values.npu(), accumulate=True)
    accuracy.assert_close(found, expected, Tolerance(1e-5, 1e-5), equal_nan=False)
    again = torch.zeros(10, 3, device="npu")
    again.index_put_((index.npu(),), values.npu(), accumulate=True)
    assert torch.equal(found, again)


SPREADS = {
    "everywhere": lambda n, rows: torch.randint(rows, (n,)),
    "one row": lambda n, rows: torch.full((n,), rows - 1),
    "three rows": lambda n, rows: torch.randint(3, (n,)) - 2,
    "most in one row": lambda n, rows: torch.randint(rows, (n,)) * (torch.rand(n) < 0.2),
    "descending": lambda n, rows: torch.arange(n).flip(0) % rows,
}


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.float64, torch.int64], ids=str
)
@pytest.mark.parametrize("columns", [1, 6, 300])
@pytest.mark.parametrize("spread", SPREADS)
def test_many_writes_keep_their_order(spread, columns, dtype):
    """Writes happen in order on any number of threads: sums are rounded at each step, the last write wins."""
    torch.manual_seed(0)
    index = SPREADS[spread](2000, 100)
    values = torch.randn(2000, columns).mul(100).to(dtype)
    start = torch.randn(100, columns).mul(100).to(dtype)
    summed, written = start.numpy().copy(), start.numpy().copy()
    np.add.at(summed, index.numpy(), values.numpy())
    for row, value in zip(index.numpy(), values.numpy(), strict=True):
        written[row] = value
    for created in (start.npu(), start.t().contiguous().npu().t()):
        added = created.clone().index_put_((index.npu(),), values.npu(), accumulate=True)
        assert np.array_equal(added.cpu().numpy(), summed)
        assert np.array_equal(
            created.index_put_((index.npu(),), values.npu()).cpu().numpy(), written
        )


def test_an_index_out_of_range_is_named():
    x = torch.zeros(5, 6, device="npu")
    with pytest.raises(
        IndexError, match=r"aclnnIndex.*index 9 is out of range for dimension 0 of size 5"
    ):
        x[torch.tensor([9], device="npu")].cpu()
    with pytest.raises(IndexError, match="too many indices"):
        x[(torch.tensor([0], device="npu"),) * 3]
    assert torch.equal(x[torch.tensor([1], device="npu")].cpu(), torch.zeros(1, 6))


@pytest.mark.parametrize("name", ["nonzero", "masked_select"])
def test_data_dependent_sizes_need_at_most_two_synchronizations(name):
    x = torch.randn(300, 200)
    mask = x > 1
    arguments = (mask,) if name == "nonzero" else (x, mask)
    explanation = explain(getattr(torch, name), *(a.npu() for a in arguments))
    expected = getattr(torch, name)(*arguments)
    assert torch.equal(explanation.result.cpu(), expected)
    assert explanation.calls("aclnn") >= 1
    assert explanation.calls("AI CPU") == 0
    assert explanation.synchronizations <= 2
    # The unused room of the result is not kept.
    assert explanation.result.untyped_storage().nbytes() == expected.numel() * expected.itemsize


def test_a_mask_of_all_dimensions_needs_no_indices():
    x = torch.randn(300, 200)
    explanation = explain(lambda t: t[t > 0.5], x.npu())
    expected = x[x > 0.5]
    assert torch.equal(explanation.result.cpu(), expected)
    assert explanation.calls("AI CPU") == 0
    assert (
        explanation.synchronizations <= 1
    )  # none where the stream, which others use, is known to be done
    assert explanation.result.untyped_storage().nbytes() == expected.numel() * expected.itemsize


def test_masks_that_are_all_true_or_all_false():
    for mask in (torch.ones(7, 3, dtype=torch.bool), torch.zeros(7, 3, dtype=torch.bool)):
        assert torch.equal(mask.npu().nonzero().cpu(), mask.nonzero())
        x = torch.randn(7, 3)
        assert torch.equal(x.npu()[mask.npu()].cpu(), x[mask])


@pytest.mark.parametrize("name", ["nonzero", "masked_select"])
def test_data_dependent_sizes_of_queued_tensors_need_one_synchronization(name):
    x = torch.arange(-50.0, 50.0, device="npu")
    mask = x > 0
    y = x + 1  # y is queued, or done and not waited for
    call = y.nonzero if name == "nonzero" else lambda: y.masked_select(mask)
    explanation = explain(call)
    assert explanation.synchronizations <= 1
    assert explanation.result.shape[0] == (99 if name == "nonzero" else 49)


@pytest.mark.parametrize("variant", FORMS)
def test_the_result_has_pytorchs_memory_order(variant):
    """Of a tensor that is not contiguous: shuffled images stay channels_last."""
    x, i, j, m = operands(torch.float32)
    turned = x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    index = FORMS[variant](i, j, m)
    expected = turned[index]
    result = turned.npu()[tuple(e.npu() if isinstance(e, torch.Tensor) else e for e in index)]
    assert (result.stride(), result.tolist()) == (expected.stride(), expected.tolist())
    images = torch.randn(4, 2, 3, 3).to(memory_format=torch.channels_last).npu()
    shuffled = images[torch.tensor([2, 0, 3, 1])]
    assert shuffled.is_contiguous(memory_format=torch.channels_last)
