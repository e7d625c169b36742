"""Operators called by their type: results' sizes and types are those of PyTorch's meta functions, and so are values."""

import pytest
import torch

from tests.aclnn.compare import assert_within
from tests.aclnn.library import DTYPES, AclnnError, Library
from tests.aclnn.type_cases import CASES, TypeCase
from tests.aclnn.types import Host, RegistryCall, type_names

_UNKNOWN = -1
# Both sides round: up to 300 terms of size 1 are added in any order, whose errors are a random walk.
_ROUNDINGS = 2 * 300**0.5


def _results(case: TypeCase, device: str) -> list[torch.Tensor]:
    inputs = [given.to(device) for given in case.inputs if isinstance(given, torch.Tensor)]
    found = case.expect(*inputs)
    return [found] if isinstance(found, torch.Tensor) else list(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_results_are_those_of_pytorch(library: Library, case: TypeCase):
    expected = _results(case, "cpu")
    with RegistryCall(library, case.name, case.inputs, case.attributes) as call:
        found = call.infer(len(expected))
        for (sizes, dtype), result in zip(found, expected, strict=True):
            assert DTYPES[result.dtype] == dtype
            assert len(sizes) == result.dim()
            for size, wanted in zip(sizes, result.shape, strict=True):
                assert size in (wanted, _UNKNOWN)
            assert _UNKNOWN not in sizes or case.name in ("NonZero", "MaskedSelect")
        if not case.computes:
            return
        outputs = [torch.zeros_like(result).contiguous() for result in expected]
        call.run(outputs)
    for output, result in zip(outputs, expected, strict=True):
        assert_within(output, result, _ROUNDINGS)


def test_every_row_has_a_case():
    assert set(type_names()) == {case.name for case in CASES}


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "message"),
    [
        ("Add", (torch.ones(2), torch.ones(3)), {}, "sizes 2 and 3 of one dimension do not match"),
        ("Cast", (torch.ones(2),), {}, "the data type -1 is not known"),
        ("ReduceSum", (torch.ones(2), Host.of(4)), {}, "dimension 4 of a tensor of 1 dimensions"),
        ("ReduceSum", (torch.ones(2), torch.ones(1)), {}, "host memory"),
        ("MatMul", (torch.ones(2, 3), torch.ones(2, 3)), {}, "do not match"),
        ("Transpose", (torch.ones(2, 3), Host.of(0, 0)), {}, "each dimension is named once"),
        ("Tile", (torch.ones(2, 3), Host.of(2)), {}, "a multiple for each dimension"),
        ("SoftmaxV2", (), {}, "0 inputs"),
        ("FlyToTheMoon", (), {}, "no operator is of this type"),
        ("Slice", (torch.ones(4), Host.of(3), Host.of(4)), {}, "the slice leaves the tensor"),
        ("ConcatD", (torch.ones(4), torch.ones(2, 2)), {}, "the first"),
        ("Add", (torch.ones(2), torch.ones(2)), {"alpha": "x"}, ""),
    ],
)
def test_bad_calls_are_errors(library: Library, name, inputs, attributes, message):
    with RegistryCall(library, name, inputs, attributes) as call:
        if message == "":  # an attribute that the row does not have is left alone
            call.infer(1)
            return
        with pytest.raises(AclnnError, match=message):
            call.infer(1)
