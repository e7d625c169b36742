"""The kernel grouped_matmul, against float64."""

import pytest
import torch

from torch_npu.ascendc.kernels import grouped_matmul

from .against import RTOL, name_of
from .products import assert_sums_close


@pytest.mark.parametrize("dtype", RTOL, ids=name_of)
@pytest.mark.parametrize(
    ("ends", "depth", "columns"),
    [([5], 3, 4), ([0, 7, 7, 300], 40, 33), ([130, 131, 400], 64, 600), ([10, 10, 12], 16, 16)],
)
def test_result(ends, depth, columns, dtype):
    generator = torch.Generator().manual_seed(6)
    rows = ends[-1] + 3
    x = torch.randn(rows, depth, generator=generator).to(dtype)
    weight = torch.randn(len(ends), depth, columns, generator=generator).to(dtype)
    y = grouped_matmul(x.npu(), weight.npu(), torch.tensor(ends, dtype=torch.int32).npu())
    expected, size = torch.zeros(2, rows, columns, dtype=torch.float64)
    begin = 0
    for group, end in enumerate(ends):
        expected[begin:end] = x[begin:end].double() @ weight[group].double()
        size[begin:end] = x[begin:end].double().abs() @ weight[group].double().abs()
        begin = end
    assert y.dtype == dtype
    assert_sums_close(y, expected, size, depth)
    assert not y[begin:].any()


def test_ends_that_do_not_grow_are_an_error():
    x, weight = torch.ones(8, 4, device="npu"), torch.ones(2, 4, 4, device="npu")
    grouped_matmul(x, weight, torch.tensor([5, 3], dtype=torch.int32).npu())
    with pytest.raises(RuntimeError, match="ends of groups have to grow"):
        torch.npu.synchronize()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, w, e: grouped_matmul(x, w[0], e), "groups by depth by columns"),
        (lambda x, w, e: grouped_matmul(x, w, e.long()), "it is int32, with 2 elements"),
        (lambda x, w, e: grouped_matmul(x, w, e[:1]), "it is int32, with 2 elements"),
        (lambda x, w, e: grouped_matmul(x[:0], w, e), "no size may be 0"),
    ],
)
def test_wrong_input_is_one_error(call, words):
    ends = torch.tensor([2, 4], dtype=torch.int32).npu()
    with pytest.raises(ValueError, match=words):
        call(torch.ones(4, 5, device="npu"), torch.ones(2, 5, 3, device="npu"), ends)
