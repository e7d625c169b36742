"""torch.npu's streams: attributes, order, external handles, streams that bypass the task queue, limits."""

import ctypes
import pickle

import fresh
import pytest
import torch
from gated import Gate

STREAMS = [torch.npu.Stream, torch.npu.SyncLaunchStream]


def raw_stream():
    handle = ctypes.c_void_p()
    assert torch.npu.npurt().npuStreamCreate(ctypes.addressof(handle)) == 0
    return handle.value


@pytest.mark.api(
    "torch.npu.Stream.__new__",
    "torch.npu.SyncLaunchStream.__new__",
    "torch.npu.Stream.npu_stream",
    "torch.npu.Stream.native_handle",
    "torch.npu.Stream.device",
    "torch.npu.Stream.device_index",
    "torch.npu.Stream.device_type",
    "torch.npu.Stream.stream_id",
    "torch.npu.Stream.priority",
    "torch.npu.Stream.priority_range",
    "torch.npu.Stream.is_capturing",
    "torch.npu.is_current_stream_capturing",
)
@pytest.mark.parametrize("make", STREAMS)
def test_attributes(make):
    stream = make()
    assert isinstance(stream, torch.Stream)
    assert stream.device == torch.device("npu:0")
    assert stream.device_index == 0
    assert stream.device_type == torch.npu.current_stream().device_type
    assert stream.npu_stream == stream.native_handle == stream._as_parameter_.value != 0
    assert stream.priority == 0
    assert make.priority_range() == (0, -7)
    assert stream.is_capturing() is False
    assert torch.npu.is_current_stream_capturing() is False
    assert f"{stream.npu_stream:#x}" in repr(stream)


@pytest.mark.parametrize("make", STREAMS)
def test_equal_streams_have_equal_hashes(make):
    stream, other = make(), make()
    same = make(stream_id=stream.stream_id, device_index=0, device_type=int(stream.device_type))
    assert same == stream
    assert hash(same) == hash(stream)
    assert other != stream
    assert stream != stream.npu_stream
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(stream)


@pytest.mark.api(
    "torch.npu.Stream.query",
    "torch.npu.Stream.synchronize",
    "torch.npu.Stream.record_event",
    "torch.npu.Stream.wait_event",
    "torch.npu.Stream.wait_stream",
    "torch.npu.SyncLaunchStream.query",
    "torch.npu.SyncLaunchStream.synchronize",
    "torch.npu.SyncLaunchStream.record_event",
    "torch.npu.SyncLaunchStream.wait_event",
    "torch.npu.SyncLaunchStream.wait_stream",
)
@pytest.mark.parametrize("make", STREAMS)
def test_order(make):
    first, second, third = make(), make(), make()
    with Gate(first) as gate:
        event = first.record_event()
        assert isinstance(event, torch.npu.Event)
        given = torch.npu.Event()
        assert first.record_event(given) is given
        second.wait_event(event)
        third.wait_stream(first)
        for stream in (second, third):
            with torch.npu.stream(stream):
                torch.ones(10, device="npu").add_(1)
        assert [s.query() for s in (first, second, third)] == [False] * 3
        assert not event.query()
        gate.open()
    for stream in (first, second, third):
        stream.synchronize()
        assert stream.query()
    assert event.query()
    assert given.query()


@pytest.mark.api("torch.npu.Stream.synchronize", "torch.npu.SyncLaunchStream.synchronize")
@pytest.mark.parametrize("make", STREAMS)
def test_synchronize_waits(make):
    stream = make()
    with Gate(stream) as gate:
        with torch.npu.stream(stream):
            x = torch.ones(10, device="npu").add_(1)
        gate.open_later()
        stream.synchronize()
        assert gate.opened.is_set()
        assert stream.query()
    assert x.sum().item() == 20


@pytest.mark.api(
    "torch.npu.Stream.set_data_preprocess_stream",
    "torch.npu.SyncLaunchStream.set_data_preprocess_stream",
)
@pytest.mark.parametrize("make", STREAMS)
def test_data_preprocess(make):
    stream = make()
    stream.set_data_preprocess_stream(True)
    assert stream._is_data_preprocess_stream
    stream.set_data_preprocess_stream()
    assert not stream._is_data_preprocess_stream
    with pytest.raises(TypeError, match="must be a bool"):
        stream.set_data_preprocess_stream("yes")


def test_bad_arguments():
    for make in STREAMS:
        with pytest.raises(ValueError, match="npu device"):
            make("cpu")
        with pytest.raises(RuntimeError):
            make(99)
        with pytest.raises(TypeError):
            make(priority="high")
    with pytest.raises(TypeError, match="shade"):
        torch.npu.Stream(shade=1)


@pytest.mark.api(
    "torch.npu.ExternalStream.__new__",
    "torch.npu.ExternalStream.native_handle",
    "torch.npu.ExternalStream.npu_stream",
    "torch.npu.ExternalStream.priority",
    "torch.npu.npurt",
)
def test_external_stream():
    handle = raw_stream()
    stream = torch.npu.ExternalStream(handle)
    assert isinstance(stream, torch.npu.Stream)
    assert stream.npu_stream == stream.native_handle == handle
    assert stream.priority == 0
    assert stream == torch.npu.ExternalStream(handle, device=0)
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        assert torch.npu.current_stream() == stream
        x = torch.full((1000,), 3.0, device="npu").mul_(2)
    x.record_stream(stream)
    event = stream.record_event()
    event.synchronize()
    assert stream.query()
    assert x.sum().item() == 6000
    del x
    stream.synchronize()
    torch.npu.synchronize()
    assert torch.npu.npurt().npuStreamDestroy(handle) == 0
    with pytest.raises(RuntimeError):
        torch.npu.npurt().npuStreamDestroy(handle)


def test_an_external_stream_needs_a_stream():
    assert torch.npu.is_available()
    torch.ones(1, device="npu")
    with pytest.raises(RuntimeError, match="needs the handle"):
        torch.npu.ExternalStream(0)
    with pytest.raises(RuntimeError):
        torch.npu.ExternalStream(12345)
    with pytest.raises(TypeError, match="must be an int"):
        torch.npu.ExternalStream("stream")
    with pytest.raises(RuntimeError, match="priority"):
        torch.npu.ExternalStream(torch.npu.Stream().npu_stream, priority=-1)


@pytest.mark.api("torch.npu.npurt")
def test_registered_host_memory():
    memory = ctypes.create_string_buffer(8192)
    address = (ctypes.addressof(memory) + 4095) // 4096 * 4096
    mapped = 2
    assert torch.npu.npurt().npuHostRegister(address, 4096, mapped) == 0
    assert torch.npu.npurt().npuHostUnregister(address) == 0
    with pytest.raises(RuntimeError):
        torch.npu.npurt().npuHostUnregister(address)


def test_a_sync_launch_stream_with_a_task_queue():
    torch.npu.set_task_queue_enable(1)
    try:
        x = torch.ones(1000, device="npu").add_(1)
        stream = torch.npu.SyncLaunchStream()
        stream.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(stream):
            x.mul_(3)
        stream.synchronize()
        assert x.sum().item() == 6000
    finally:
        torch.npu.set_task_queue_enable(0)


@pytest.mark.api(
    "torch.npu.set_stream",
    "torch.npu.stream",
    "torch.npu.StreamContext.__enter__",
    "torch.npu.StreamContext.__exit__",
    "torch.npu.current_stream",
    "torch.npu.default_stream",
)
def test_the_current_stream():
    default, stream = torch.npu.default_stream(), torch.npu.Stream()
    assert default.stream_id == 0
    torch.npu.set_stream(stream)
    torch.npu.set_stream(None)
    assert torch.npu.current_stream() == stream
    with torch.npu.StreamContext(default):
        assert torch.npu.current_stream() == default
    with torch.npu.stream(None):
        assert torch.npu.current_stream() == stream
    torch.npu.set_stream(default)
    assert torch.npu.current_stream() == default


@pytest.mark.api(
    "torch.npu.set_stream_limit", "torch.npu.get_stream_limit", "torch.npu.reset_stream_limit"
)
def test_stream_limits():
    stream = torch.npu.Stream()
    all_cores = torch.npu.get_stream_limit(stream)
    assert all_cores == torch.npu.get_device_limit(0)
    torch.npu.set_stream_limit(stream, cube_num=1)
    assert torch.npu.get_stream_limit(stream) == {**all_cores, "cube_core_num": 1}
    torch.npu.set_stream_limit(stream, vector_num=1)
    assert torch.npu.get_stream_limit(stream) == {"cube_core_num": 1, "vector_core_num": 1}
    torch.npu.reset_stream_limit(stream)
    assert torch.npu.get_stream_limit(stream) == all_cores
    for bad in (0, -2, all_cores["cube_core_num"] + 1):
        with pytest.raises(RuntimeError):
            torch.npu.set_stream_limit(stream, cube_num=bad)
    for bad in (None, 3, "stream"):
        with pytest.raises(AssertionError, match="stream"):
            torch.npu.get_stream_limit(bad)
    with pytest.raises(TypeError, match="must be an int"):
        torch.npu.set_stream_limit(stream, vector_num=1.5)


@pytest.mark.api("torch.npu.set_device_limit", "torch.npu.get_device_limit")
def test_device_limits():
    program = """
import torch
torch.npu.set_device_limit(0, 1, 1)
print(torch.npu.get_device_limit(0), torch.npu.get_stream_limit(torch.npu.Stream()))
print((torch.ones(4, device="npu") + 1).sum().item())
try:
    torch.npu.set_device_limit(0, 1, 1)
except RuntimeError as error:
    print(error)
"""
    one = {"cube_core_num": 1, "vector_core_num": 1}
    lines = fresh.output(program).splitlines()
    assert lines[:2] == [f"{one} {one}", "8.0"]
    assert "already been called" in lines[2]
    with pytest.raises(TypeError, match="must be an int"):
        torch.npu.get_device_limit("npu:0")
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.npu.set_device_limit(99)


@pytest.mark.api("torch.npu.stop_device", "torch.npu.restart_device")
def test_a_stopped_device_takes_no_work():
    program = """
import torch
x = torch.arange(4.0, device="npu")
torch.npu.synchronize()
print(torch.npu.stop_device(0))
for work in (lambda: x + 1, lambda: x.cpu(), lambda: torch.npu.current_stream().synchronize()):
    try:
        work()
        print("worked")
    except RuntimeError as error:
        print(str(error).splitlines()[0])
torch.npu.restart_device(0)
print((x + 1).tolist())
"""
    lines = fresh.output(program).splitlines()
    assert lines[0] == "0"
    assert all("FORCE STOP" in line and "restart_device(0)" in line for line in lines[1:4]), lines
    assert lines[4] == "[1.0, 2.0, 3.0, 4.0]"
    with pytest.raises(RuntimeError):
        torch.npu.stop_device(99)
    with pytest.raises(RuntimeError):
        torch.npu.restart_device(99)


@pytest.mark.api("torch.npu.check_uce_in_memory")
def test_memory_has_no_errors():
    assert torch.npu.check_uce_in_memory(0) == 0
    with pytest.raises(RuntimeError):
        torch.npu.check_uce_in_memory(99)


@pytest.mark.api("torch_npu.erase_stream")
def test_erased_streams_do_not_delay_reuse():
    stream = torch.npu.Stream()
    with Gate(stream) as gate:
        x = torch.empty(1 << 20, device="npu")
        address = x.data_ptr()
        x.record_stream(stream)
        torch.npu._erase_stream(x, stream)
        del x
        y = torch.empty(1 << 20, device="npu")
        assert y.data_ptr() == address
        gate.open()
    with pytest.raises(TypeError, match="Tensor"):
        torch.npu._erase_stream(3, stream)
    with pytest.raises(TypeError, match="Stream"):
        torch.npu._erase_stream(y, 3)
    with pytest.raises(RuntimeError, match="no live npu allocation"):
        torch.npu._erase_stream(torch.ones(2), stream)


def test_a_stream_may_bypass_the_task_queue():
    streams = [torch.npu.Stream(is_sync_launch=True) for _ in range(5)]
    first = streams[0]
    assert type(first) is torch.npu.Stream
    assert streams[4] == first  # a pool of four
    again = torch.npu.Stream(
        stream_id=first.stream_id, device_index=first.device_index, device_type=first.device_type
    )
    assert again == first
    ids = {s.stream_id for s in streams}
    assert torch.npu.SyncLaunchStream().stream_id in ids
    assert torch.npu.Stream(is_sync_launch=False).stream_id not in ids
    with torch.npu.stream(first):
        x = torch.ones(3, device="npu") + 1
    first.synchronize()
    assert x.tolist() == [2, 2, 2]
    program = "import torch; s = torch.npu.Stream(is_sync_launch=True); torch.npu.Stream(stream_id=s.stream_id + 4, device_index=0, device_type=s.device_type)"
    result = fresh.run(program)
    assert "does not exist" in result.stderr.splitlines()[-1]
