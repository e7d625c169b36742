"""Samples of operators for PyTorch's OpInfos."""

from collections.abc import Iterator

import torch
from torch.testing import make_tensor
from torch.testing._internal.common_methods_invocations import (
    SampleInput,
    sample_inputs_normal_common,
    sample_inputs_reduction,
)

_Keywords = object


def sample_inputs_normal_tensor_second(
    self: object, device: str, dtype: torch.dtype, requires_grad: bool, **kwargs: _Keywords
) -> object:
    """Samples of ``torch.normal`` whose second argument is a number or a tensor."""
    cases: list[tuple[list[int], object, dict]] = [
        ([3, 4], 0.3, {}),
        ([3, 55], 0, {}),
        ([5, 6, 7, 8], [5, 6, 7, 8], {}),
    ]
    return sample_inputs_normal_common(self, device, dtype, requires_grad, cases, **kwargs)


def sample_inputs_median_custom(
    self: object, device: str, dtype: torch.dtype, requires_grad: bool, **kwargs: _Keywords
) -> Iterator[SampleInput]:
    """Samples of ``torch.median``: two without elements, then those of reductions."""
    for shape in ((2, 0), (0, 2)):
        yield SampleInput(
            make_tensor(shape, device=device, dtype=dtype, requires_grad=requires_grad)
        )
    yield from sample_inputs_reduction(self, device, dtype, requires_grad, **kwargs)
