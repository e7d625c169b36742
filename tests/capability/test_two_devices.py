"""Two software NPUs in one process."""

import fresh

PROGRAM = """
import pytest, torch
assert torch.npu.device_count() == 2
a = torch.randn(1000, device="npu:0")
b = a.to("npu:1", copy=True)
assert b.device.index == 1 and torch.equal(a.cpu(), b.cpu())
assert (b.view(10, 100).t() + 1).device.index == 1
assert b.untyped_storage().data_ptr() not in range(*(lambda r: (r[0], r[0] + r[1]))(torch.npu._state.native().device_range(0)))
with pytest.raises(RuntimeError, match="npu:0 and npu:1"):
    a + b
with torch.npu.device(1):
    assert torch.ones(2, device="npu").device.index == 1
    assert torch.npu.current_stream().device_index == 1
assert torch.ones(2, device="npu").device.index == 0
x = torch.randn(3, 3, device="npu:1", requires_grad=True)
(x @ x).sum().backward()
assert x.grad.device.index == 1
assert torch.npu.memory_allocated(1) > 0
event = torch.npu.Event()
event.record(torch.npu.current_stream(0))
event.wait(torch.npu.current_stream(1))
torch.npu.synchronize(1)
print("ok")
"""


def test_two_devices():
    assert fresh.output(PROGRAM, SOFTNPU_DEVICE_COUNT="2") == "ok"
