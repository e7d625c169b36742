"""Exchange of tensors: DLPack, data parallelism, copies between devices."""

import fresh
import pytest
import torch

DATA_PARALLEL = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
x = torch.randn(10, 6)
model(x).square().sum().backward()
expected = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
parallel = torch.nn.DataParallel(model.npu())
assert parallel.device_ids == [0, 1]
y = parallel(x.npu())
assert y.device == torch.device("npu:0") and y.shape == (10, 2)
y.square().sum().backward()
for p, e in zip(model.parameters(), expected):
    torch.testing.assert_close(p.grad.cpu(), e)
pieces = torch.nn.parallel.comm.scatter(torch.arange(10.0).npu(), [0, 1], [3, 7])
assert [p.tolist() for p in pieces] == [[0, 1, 2], [3, 4, 5, 6, 7, 8, 9]]
assert torch.nn.parallel.comm.gather(pieces, destination=-1).tolist() == list(range(10))
print("ok")
"""


def test_dlpack_shares_memory():
    x = torch.arange(6.0, device="npu").view(2, 3)
    y = torch.from_dlpack(x)
    assert (y.device, y.shape, y.stride()) == (x.device, x.shape, x.stride())
    y.add_(1)
    assert x[0, 0].item() == 1
    assert torch.from_dlpack(x.t()).stride() == (1, 3)
    assert x.__dlpack_device__() == (12, 0)  # kDLExtDev
    assert torch.ones(2).__dlpack_device__() == (1, 0)


@pytest.mark.skipif(
    torch.version.cuda is not None and not torch.cuda.is_available(),
    reason="torch's CUDA build asks for NVIDIA's driver when it scatters, whatever the device",
)
def test_data_parallel_on_two_devices():
    assert fresh.output(DATA_PARALLEL, SOFTNPU_DEVICE_COUNT="2") == "ok"


def test_compile_with_eager_backends():
    x = torch.randn(3, 4, device="npu", requires_grad=True)
    expected = (x * 2).relu().sum()
    for backend in ("eager", "aot_eager"):
        torch.compiler.reset()
        loss = torch.compile(lambda t: (t * 2).relu().sum(), backend=backend)(x)
        assert loss.device == x.device
        torch.testing.assert_close(loss, expected)
        (grad,) = torch.autograd.grad(loss, x)
        torch.testing.assert_close(grad, 2.0 * (x > 0))


def test_scripted_and_traced_modules(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU()).npu().eval()
    x = torch.randn(2, 3, device="npu")
    for result in (torch.jit.trace(model, x), torch.jit.freeze(torch.jit.script(model))):
        torch.jit.save(result, tmp_path / "model.pt")
        loaded = torch.jit.load(tmp_path / "model.pt", map_location="npu")
        torch.testing.assert_close(loaded(x), model(x))


def test_the_profiler_sees_operators():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        torch.ones(3, device="npu") + 1
    assert any(event.key == "aten::add" for event in profile.key_averages())
