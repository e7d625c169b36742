"""Training steps of six networks: which calls run by aclnn, and that no call waits for the device."""

import pytest
import torch
from networks import NETWORKS

import torch_npu

# The smallest fraction of the calls that compute on the device.
LEAST = 0.99


def step(network, optimizer):
    """Forward, backward and update."""
    optimizer.zero_grad(set_to_none=True)
    loss = network.run()
    loss.backward()
    optimizer.step()
    return loss.detach()


@pytest.fixture(scope="module", params=NETWORKS)
def explained(request):
    """The third training step."""
    torch.manual_seed(0)
    network = NETWORKS[request.param]().to("npu")
    optimizer = torch.optim.AdamW(network.model.parameters(), lr=1e-3)
    for _ in range(2):
        step(network, optimizer)
    torch.npu.synchronize()
    return torch_npu.utils.explain(step, network, optimizer)


def test_a_step_runs_by_aclnn(explained):
    working = ("aclnn", "copy", "AI CPU", "CPU fallback")
    calls = {route: explained.calls(route) for route in working}
    rest = [str(row) for row in explained.rows if row.route in working[1:]]
    assert calls["aclnn"] >= LEAST * sum(calls.values()), "\n".join(rest)
    assert calls["AI CPU"] == calls["CPU fallback"] == 0, "\n".join(rest)


def test_a_step_never_waits(explained):
    assert explained.synchronizations == 0
