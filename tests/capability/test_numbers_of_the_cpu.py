"""Tensors of the CPU without dimensions beside npu tensors: the result is on npu, whichever comes first."""

import pytest
import torch

OPERATORS = {
    "add": torch.add,
    "sub": torch.sub,
    "rsub": torch.rsub,
    "mul": torch.mul,
    "div": torch.div,
    "floor_divide": torch.floor_divide,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "fmax": torch.fmax,
    "pow": torch.pow,
    "atan2": torch.atan2,
    "hypot": torch.hypot,
    "copysign": torch.copysign,
    "nextafter": torch.nextafter,
    "logaddexp": torch.logaddexp,
    "xlogy": torch.xlogy,
    "eq": torch.eq,
    "lt": torch.lt,
    "logical_and": torch.logical_and,
    "isclose": torch.isclose,
    "lerp": lambda a, b: torch.lerp(a, b, 0.25),
    "where": lambda a, b: torch.where(a > b, a, b),
    "addcmul": lambda a, b: torch.addcmul(a, b, b),
    "clamp": lambda a, b: torch.clamp(a, min=b),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.int64], ids=str
)
def test_the_result_is_on_npu(name, dtype):
    """As for the CPU with the same numbers; both may refuse a type."""
    operator = OPERATORS[name]
    numbers = [torch.tensor(3.5).to(dtype), torch.tensor(1.25).to(dtype)]
    try:
        expected = operator(*numbers)
    except RuntimeError as refusal:
        with pytest.raises(type(refusal)):
            operator(*(t.npu() for t in numbers))
        return
    for on_npu in ((True, False), (False, True), (True, True)):
        given = [t.npu() if there else t for t, there in zip(numbers, on_npu, strict=True)]
        try:
            result = operator(*given)
        except RuntimeError as refusal:
            if "device" in str(refusal):  # some take no tensors of two devices, as with CUDA
                continue
            raise
        assert result.device == torch.device("npu:0"), on_npu
        assert result.dtype == expected.dtype
        torch.testing.assert_close(result.cpu(), expected)
