"""Every OpInfo that supports float32 on the CPU, all samples, npu against CPU. No skip list."""

import pytest

from opinfo import cases

OPS = cases.float32_ops()


@pytest.mark.parametrize("op", OPS, ids=lambda op: f"{op.name}-{op.variant_test_name}")
def test_samples(op):
    try:
        cases.run_op(op)
    except cases.RefusedError as reason:
        pytest.skip(f"refused: {reason}")
    except cases.UnsupportedError as reason:
        pytest.skip(f"the CPU itself refuses it: {reason}")
