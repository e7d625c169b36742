"""PyTorch's own operator cases by torch.compile(backend="npugraph_ex"): what the engine takes has eager's result."""

from itertools import islice

import pytest
import torch
from compiled import check_near, to_npu
from torch import Tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves

SAMPLES = 2
# Their results have no values, or cannot be compared.
LEFT_OUT = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "chalf"}  # fmt: skip
OPERATORS = [op for op in op_db if torch.float32 in op.dtypes and op.name not in LEFT_OUT]


def sample_of(op):
    """Some samples whose first argument is a tensor with elements."""
    samples = op.sample_inputs("cpu", torch.float32)
    fitting = (s for s in samples if isinstance(s.input, Tensor) and s.input.numel() > 1)
    return [(to_npu(s.input), to_npu(s.args), to_npu(s.kwargs)) for s in islice(fitting, SAMPLES)]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: f"{op.name}-{op.variant_test_name}")
def test_an_operator(op):
    refusals = []

    def call(x, args, kwargs):
        return op.op(x, *args, **kwargs)

    for sample in sample_of(op):
        torch._dynamo.reset()
        strict = torch.compile(
            call, backend="npugraph_ex", fullgraph=True, options={"fallback": False}
        )
        with torch.no_grad():
            try:
                ours = strict(*sample)
            except Exception as error:
                refusals.append(str(error).partition("fallback=False:")[2] or str(error))
                continue
            theirs = call(*sample)
        terms = max((x.numel() for x in tree_leaves(sample) if isinstance(x, Tensor)), default=1)
        pairs = zip(tree_leaves(ours), tree_leaves(theirs), strict=True)
        for own, eager in ((a, b) for a, b in pairs if isinstance(b, Tensor)):
            assert own.dtype == eager.dtype
            assert own.shape == eager.shape
            if eager.dtype.is_floating_point:
                check_near(own, eager, terms, equal_nan=True)
            else:
                assert torch.equal(own, eager)
    if refusals:
        pytest.skip(refusals[0].strip().partition("\n")[0])
