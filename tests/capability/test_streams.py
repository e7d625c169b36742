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
    torch.empty(1, device="npu")  # lets the allocator process the event
    y = torch.empty(1 << 20, device="npu")
    assert y.data_ptr() == address


def test_a_slow_stream_does_not_delay_blocks_of_another_stream():
    slow, fast = torch.npu.Stream(), torch.npu.Stream()
    gate = threading.Event()
    torch.npu.synchronize()
    torch.npu.empty_cache()
    a, b = (torch.empty(1 << 20, device="npu") for _ in range(2))
    address = b.data_ptr()
    gated.launch_on_host(slow, gate.wait)
    try:
        a.record_stream(slow)
        b.record_stream(fast)
        del a, b
        fast.synchronize()
        found = torch.empty(1 << 20, device="npu").data_ptr()
    finally:
        gate.set()
    slow.synchronize()
    assert found == address


def test_priorities_are_kept():
    least, highest = torch.npu.Stream.priority_range()
    assert least == 0 > highest
    assert [torch.npu.Stream(priority=p).priority for p in (0, -1, highest)] == [0, -1, highest]
    assert torch.npu.Stream(priority=highest - 1).priority == highest
    assert torch.npu.Stream(priority=1).priority == least
    assert torch.npu.default_stream().priority == torch.npu.Stream().priority == 0
    with torch.npu.stream(torch.npu.Stream(priority=-2)):
        assert torch.npu.current_stream().priority == -2
    generic = torch.Stream("npu", priority=-3)
    named = torch.npu.Stream(
        stream_id=generic.stream_id,
        device_index=generic.device_index,
        device_type=generic.device_type,
    )
    assert named.priority == -3


def test_the_stream_of_highest_priority_runs_first():
    runs, gate = threading.Event(), threading.Event()
    order = []
    streams = [torch.npu.Stream(priority=p) for p in (0, -1, -7, -3)]
    gated.launch(torch.npu.Stream(), lambda: (runs.set(), gate.wait()))
    runs.wait()  # from here on the device's thread is occupied
    for stream in streams:
        gated.launch(stream, lambda stream=stream: order.append(stream.priority))
    gate.set()
    torch.npu.synchronize()
    assert order == [-7, -3, -1, 0]


def test_accelerator_interface():
    assert torch.accelerator.current_accelerator().type == "npu"
    assert torch.accelerator.device_count() == torch.npu.device_count()
    torch.accelerator.synchronize()
    assert torch.accelerator.memory_allocated() == torch.npu.memory_allocated()
