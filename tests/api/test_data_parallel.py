"""nn.DataParallel over several devices of one process."""

import fresh

PARALLEL = """
import torch
from torch import nn
torch.manual_seed(0)
assert torch.npu.device_count() == 3
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 5), nn.BatchNorm1d(5)
        self.seen = set()
    def forward(self, x, factor=1.0):
        devices.add(str(x.device))
        return {"out": self.norm(self.linear(x)) * factor, "sum": x.sum().unsqueeze(0)}
devices = set()
net = Net().npu()
x = torch.randn(9, 4)
parallel = nn.DataParallel(net)
out = parallel(x.npu(), factor=2.0)
assert devices == {"npu:0", "npu:1", "npu:2"}, devices
assert out["out"].device == torch.device("npu:0") and out["sum"].shape == (3,)
out["out"].square().sum().backward()
alone = Net().npu()
alone.load_state_dict(net.state_dict())
alone.train()
expected = torch.cat([alone(part.npu(), 2.0)["out"] for part in x.chunk(3)])
torch.testing.assert_close(out["out"], expected)
expected.square().sum().backward()
torch.testing.assert_close(net.linear.weight.grad, alone.linear.weight.grad, rtol=1e-4, atol=1e-4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
before = net.linear.weight.detach().clone()
optimizer.step()
torch.testing.assert_close(net.linear.weight, before - 0.1 * net.linear.weight.grad)
net.to("npu:1")
devices.clear()
out = nn.DataParallel(net.eval(), device_ids=[1, 2], output_device=2)(x.npu())
assert out["out"].device == torch.device("npu:2") and devices == {"npu:1", "npu:2"}
torch.testing.assert_close(out["out"].cpu(), net(x.to("npu:1"))["out"].cpu())
try:
    nn.DataParallel(net, device_ids=[0, 1])(x.npu())
except RuntimeError as error:
    assert "module must have its parameters and buffers on device npu:0" in str(error), error
else:
    raise AssertionError("a module on another device was taken")
try:
    nn.DataParallel(Net().npu(), device_ids=[0, 7])(x.npu())
except (RuntimeError, AssertionError) as error:
    assert "7" in str(error), error
else:
    raise AssertionError("a device that does not exist was taken")
print("done")
"""


def test_data_parallel_over_three_devices():
    assert fresh.output(PARALLEL, SOFTNPU_DEVICE_COUNT="3", SOFTNPU_HBM="1G").endswith("done")
