"""What the tests of this folder share: types with their tolerances, and the comparison with float64."""

import torch

RTOL = {torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 1e-2}


def name_of(value: object) -> str:
    """For the names of tests: a shape or a type."""
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    return "x".join(map(str, value)) or "scalar" if isinstance(value, tuple) else str(value)


def assert_close(
    actual: torch.Tensor,
    expected: torch.Tensor,
    dtype: torch.dtype,
    terms: torch.Tensor | float = 0.0,
) -> None:
    """Holds a result against float64.

    Args:
        actual: of the kernel, on the npu.
        expected: in float64.
        dtype: that the result has to have. It is rounded once: ``RTOL`` of the value, and what a subnormal loses.
        terms: the size of what is added, where terms cancel: they are rounded to float32 before.
    """
    assert actual.dtype == dtype
    assert actual.device.type == "npu"
    assert actual.shape == expected.shape
    numbers = torch.finfo(dtype)
    terms = torch.as_tensor(terms, dtype=torch.float64)
    allowed = (
        RTOL[dtype] * expected.abs()
        + numbers.smallest_normal * numbers.eps
        + 8 * torch.finfo(torch.float32).eps * terms
    )
    error = (actual.detach().cpu().double() - expected).abs()
    worst = (error - allowed).flatten()
    assert not (worst > 0).any(), (
        f"largest error {error.max():.3g} where {expected.flatten()[worst.argmax()]:.6g} is expected"
    )
    assert torch.equal(actual.detach().cpu().isnan(), expected.isnan())
