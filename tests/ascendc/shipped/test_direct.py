"""Operators of shipped kernels, called past their Python functions: what the kernel does not take raises."""

import pytest
import torch

import torch_npu.ascendc.kernels  # noqa: F401

OPS = torch.ops.ascendc


def _ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="npu")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: OPS.add(_ones(8), _ones(4)), "of one shape"),
        (lambda: OPS.linear(_ones(2, 8), _ones(4, 8), _ones(3), "none"), "it has 4 elements"),
        (lambda: OPS.grouped_matmul(_ones(2, 8), _ones(4, 8), _ones(4)), "groups by depth"),
        (
            lambda: OPS.attention(_ones(1, 1, 2, 200), *[_ones(1, 1, 2, 200)] * 2, False, 1.0),
            "at most 128",
        ),
        (lambda: OPS.softmax(_ones()), "at least one dimension"),
        (lambda: OPS.swiglu(_ones(8), _ones(4)), "of one shape"),
        (lambda: OPS.swiglu_backward(_ones(4), _ones(8), _ones(8)), "of one shape"),
        (lambda: OPS.rms_norm(_ones(2, 8), _ones(4), 0.0), "weight has to have one dimension"),
        (
            lambda: OPS.rms_norm_backward(_ones(8), _ones(2, 8), _ones(8), _ones(2)),
            "of one shape",
        ),
        (
            lambda: OPS.rms_norm_backward(_ones(2, 8), _ones(2, 8), _ones(8), _ones(1)),
            "second result",
        ),
        (lambda: OPS.rope(_ones(1, 2, 1, 4), _ones(2, 1), _ones(2, 2), False, False), "both have"),
        (lambda: OPS.sepia(_ones(2, 4, 4)), "1 or 3 channels"),
        (lambda: OPS.sepia_backward(_ones(3, 4, 4), 2), "channels is 2"),
    ],
)
def test_an_operator_checks_its_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()
