"""The official torch_npu wheel on softnpu: its calls of the runtime. Run by `./dev oracle`, in the wheel's own venv."""

import pytest
import torch

import torch_npu


@pytest.fixture(scope="module", autouse=True)
def aclnn_route():
    """Operators are called by aclnn, not by type name."""
    torch.npu.set_compile_mode(jit_compile=False)


def test_it_is_the_official_wheel_on_a_software_npu():
    assert torch_npu.__version__ == "2.13.0"
    assert ".venv-oracle" in torch_npu.__file__
    assert torch.npu.is_available()
    assert torch.npu.device_count() == 1
    assert torch.npu.get_device_name(0) == "Ascend910B1"
    with open("/proc/self/maps") as maps:
        lines = [line.strip() for line in maps if "libascendcl.so" in line]
    (library,) = {line.split(maxsplit=5)[5] for line in lines}  # a path may have spaces
    assert library.endswith("build/python/torch_npu/lib/cann/libascendcl.so")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool])
def test_copies(dtype):
    x = torch.arange(1000).to(dtype)
    assert torch.equal(x.npu().cpu(), x)
    assert torch.equal(x.npu().clone().cpu(), x)
    y = torch.empty(1000, dtype=dtype, device="npu")
    y.copy_(x.pin_memory(), non_blocking=True)
    torch.npu.synchronize()
    assert torch.equal(y.cpu(), x)


def test_streams_and_events():
    stream = torch.npu.Stream()
    start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    x = torch.randn(1 << 20).npu()
    start.record()
    with torch.npu.stream(stream):
        stream.wait_event(start)
        y = x.clone()
        end.record(stream)
    torch.npu.current_stream().wait_event(end)
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) > 0
    assert torch.equal(y.cpu(), x.cpu())


def test_memory_is_counted():
    before = torch.npu.memory_allocated()
    x = torch.empty(1 << 20, device="npu")
    assert torch.npu.memory_allocated() - before >= x.numel() * 4
    free, total = torch.npu.mem_get_info()
    assert 0 < free < total
    del x
    assert torch.npu.memory_allocated() == before
    with pytest.raises(RuntimeError, match="out of memory"):
        torch.empty(1 << 50, dtype=torch.uint8, device="npu")
    assert torch.ones(3).npu().cpu().tolist() == [1, 1, 1]


def test_matrix_products_by_aclnn():
    a, b = torch.randn(37, 53), torch.randn(53, 11)
    torch.testing.assert_close((a.npu() @ b.npu()).cpu(), a @ b)
    a, b = torch.randn(3, 7, 5), torch.randn(3, 5, 9)
    torch.testing.assert_close(torch.bmm(a.npu(), b.npu()).cpu(), torch.bmm(a, b))
