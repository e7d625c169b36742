"""Functions of ATen for every device that end in a DispatchStub."""

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance


@pytest.mark.parametrize("fallback", ["npu", "cpu"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_kaiser_window(fallback, dtype):
    before = torch.npu.get_operator_fallback()
    torch.npu.set_operator_fallback(fallback)
    try:
        for size, options in ((5, {}), (1, {}), (0, {}), (37, {"periodic": False, "beta": 4.5})):
            actual = torch.kaiser_window(size, dtype=dtype, device="npu", **options)
            assert actual.is_npu
            expected = torch.kaiser_window(size, dtype=dtype, **options)
            # The CPU may contract products and sums of the series.
            eps = torch.finfo(dtype).eps
            accuracy.assert_close(actual, expected, Tolerance(8 * eps, 8 * eps), equal_nan=False)
    finally:
        torch.npu.set_operator_fallback(before)


def test_kaiser_window_fills_an_output_with_gaps():
    memory = torch.zeros(12, device="npu")
    torch.ops.aten.kaiser_window.beta_out(6, True, 12.0, out=memory[::2])
    torch.testing.assert_close(memory[::2].cpu(), torch.kaiser_window(6))
    assert memory[1::2].count_nonzero() == 0


def test_kaiser_window_refuses_integers():
    with pytest.raises(RuntimeError, match="floating point"):
        torch.kaiser_window(5, dtype=torch.int64, device="npu")
