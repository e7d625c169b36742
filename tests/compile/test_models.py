"""The networks of tests/models compiled: one graph each, generated kernels, results and gradients as eager's."""

import copy
import sys
from pathlib import Path

import pytest
import torch
from torch._dynamo.utils import counters

import torch_npu

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from networks import NETWORKS

# Dynamo does not trace nn.LSTM.
COMPILED = [name for name in NETWORKS if name != "lstm"]
# What a compiled network calls beside generated kernels.
PRODUCTS = ("Mm", "Addmm", "Matmul", "BatchMatMul", "Baddbmm", "Convolution", "FlashAttention")


@pytest.mark.parametrize("name", COMPILED)
def test_a_network(name):
    network = NETWORKS[name]().to("npu")
    network.model.eval()  # without dropout
    model = copy.deepcopy(network.model)
    counters.clear()
    compiled = torch.compile(model, fullgraph=True)
    ours = compiled(*network.inputs)
    theirs = network.model(*network.inputs)
    losses = [network.loss(out, *network.inputs) for out in (ours, theirs)]
    for loss in losses:
        loss.backward()
    assert not counters["graph_break"]
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-5, atol=0)
    for a, e in zip(model.parameters(), network.model.parameters(), strict=True):
        assert (a.grad is None) == (e.grad is None)
        if e.grad is not None:
            # float32's roundings through the depth of a network, of sums of up to 1e4 terms: a relative 1e2 epsilon
            # times their square root.
            assert (a.grad - e.grad).norm() <= 1e-3 * e.grad.norm() + 1e-6
    with torch.no_grad():
        compiled(*network.inputs)
        torch.npu.synchronize()
        explained = torch_npu.utils.explain(compiled, *network.inputs)
    rest = [str(row) for row in explained.rows if row.route in ("AI CPU", "CPU fallback")]
    assert not rest
    assert explained.synchronizations == 0
    assert explained.calls("generated") > 0
    kernels = {row.kernel for row in explained.rows if row.route == "aclnn"}
    assert not {
        kernel for kernel in kernels if not kernel.removeprefix("aclnn").startswith(PRODUCTS)
    }
