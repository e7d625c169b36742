"""A few samples of each OpInfo with ``set_operator_fallback("cpu")``: host kernels on copies."""

import itertools

import pytest
import torch

from opinfo import cases

SAMPLES = 6


pytestmark = pytest.mark.usefixtures("host_copies")


@pytest.mark.parametrize(
    "op", cases.float32_ops(), ids=lambda op: f"{op.name}-{op.variant_test_name}"
)
def test_copies(op):
    samples = op.sample_inputs("npu", torch.float32, requires_grad=False)
    for sample in itertools.islice(samples, SAMPLES):
        try:
            cases.plain(op, sample)
        except cases.UnsupportedError:
            return
