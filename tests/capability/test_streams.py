import threading

import gated
import torch


def test_current_and_context():
    stream = torch.npu.Stream()
    assert torch.npu.current_stream() == torch.npu.default_stream()
    with torch.npu.stream(stream):
        assert torch.npu.current_stream() == stream
        x = torch.ones(1000, device="npu") * 2
    assert torch.npu.current_stream() == torch.npu.default_stream()
    torch.npu.current_stream().wait_stream(stream)
    assert x.sum().item() == 2000


def test_events_order_and_measure():
    start = torch.npu.Event(enable_timing=True)
    end = torch.npu.Event(enable_timing=True)
    start.record()
    torch.randn(500, 500, device="npu") @ torch.randn(500, 500, device="npu")
    end.record()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) > 0


def test_record_stream_keeps_the_block():
    stream = torch.npu.Stream()
    x = torch.ones(1 << 20, device="npu")
    address = x.data_ptr()
    x.record_stream(stream)
    del x
    torch.npu.synchronize()
    torch.empty(1, device="npu")  # lets the allocator see that the mark has passed
    y = torch.empty(1 << 20, device="npu")
    assert y.data_ptr() == address


def test_a_slow_stream_keeps_no_block_of_another_one():
    slow, fast = torch.npu.Stream(), torch.npu.Stream()
    gate = threading.Event()
    torch.npu.synchronize()
    torch.npu.empty_cache()
    a, b = (torch.empty(1 << 20, device="npu") for _ in range(2))
    address = b.data_ptr()
    gated.launch(slow, gate.wait)
    try:
        a.record_stream(slow)
        b.record_stream(fast)
        del a, b
        assert torch.empty(1 << 20, device="npu").data_ptr() == address
    finally:
        gate.set()
    slow.synchronize()


def test_accelerator_interface():
    assert torch.accelerator.current_accelerator().type == "npu"
    assert torch.accelerator.device_count() == torch.npu.device_count()
    torch.accelerator.synchronize()
    assert torch.accelerator.memory_allocated() == torch.npu.memory_allocated()
