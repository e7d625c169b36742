"""The variants that OpInfos declare in addition to the plain call, in float32; `./dev test --part opinfo` runs every
dtype."""

import pytest
import torch

from opinfo import cases, variants
from opinfo.exceptions import EXCEPTIONS

OPS = cases.float32_ops()


@pytest.mark.parametrize("variant", [name for name in variants.ALL if name != "samples"])
@pytest.mark.parametrize("op", OPS, ids=lambda op: f"{op.name}-{op.variant_test_name}")
def test_variant(op, variant):
    if reason := EXCEPTIONS.get((op.full_name, "float32", variant)):
        pytest.skip(reason)
    try:
        variants.ALL[variant](op, torch.float32)
    except cases.NotApplicableError:
        pytest.skip("the OpInfo does not have it")
    except cases.RefusedError as reason:
        pytest.skip(f"refused: {reason}")
    except cases.UnsupportedError as reason:
        pytest.skip(f"the CPU itself refuses it: {reason}")
