"""Checks a matrix product by the sums of its rows."""

import torch

_DTYPES = (torch.bfloat16, torch.float32)


def matmul_checksum(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Whether ``c`` is not the product of ``a`` and ``b``, judged by the sums of its rows.

    A row's sum is that of ``a``'s row times the sums of ``b``'s rows. They may differ by what rounding each element of
    ``c`` and each partial sum of float32 can lose.

    Args:
        a: bfloat16 or float32 on npu, of shape (..., m, k).
        b: of shape (..., k, n).
        c: of shape (..., m, n).

    Returns:
        A bool tensor without dimensions on the npu: True if a row's sum is wrong.

    Raises:
        TypeError: one of them is not an npu tensor of bfloat16 or float32.
        RuntimeError: shapes do not match.
    """
    for tensor in (a, b, c):
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != "npu":
            raise TypeError("tensor should be torch.Tensor, and device type should be npu")
        if tensor.dtype not in _DTYPES:
            raise TypeError(
                f"matmul_checksum only supports bfloat16 and float32, but got {tensor.dtype}"
            )
    widened_a, widened_b, widened_c = (tensor.double() for tensor in (a, b, c))
    expected = widened_a @ widened_b.sum(-1, keepdim=True)
    found = widened_c.sum(-1, keepdim=True)
    sizes = widened_a.abs() @ widened_b.abs().sum(-1, keepdim=True)
    products = a.shape[-1] * torch.finfo(torch.float32).eps * sizes
    roundings = torch.finfo(c.dtype).eps / 2 * widened_c.abs().sum(-1, keepdim=True)
    return ((found - expected).abs() <= products + roundings).logical_not().any()


__all__ = ["matmul_checksum"]
