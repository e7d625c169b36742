"""torch.npu's events: timing, external ones, events of other processes."""

import ctypes
import time

import fresh
import pytest
import torch
from gated import Gate


@pytest.mark.api("torch.npu.Event.__new__", "torch.npu.Event.npu_event", "torch.npu.Event.device")
def test_an_event_has_a_handle_after_its_record():
    event = torch.npu.Event()
    assert isinstance(event, torch.Event)
    assert event.npu_event == 0
    assert "uninitialized" in repr(event)
    assert event.query()
    event.synchronize()
    event.wait()
    event.record()
    assert event.npu_event == event.event_id == ctypes.c_void_p(event.npu_event).value != 0
    assert event._as_parameter_.value == event.npu_event
    assert f"{event.npu_event:#x}" in repr(event)
    assert event.device == torch.device("npu:0")


@pytest.mark.api(
    "torch.npu.Event.record",
    "torch.npu.Event.wait",
    "torch.npu.Event.query",
    "torch.npu.Event.synchronize",
)
def test_order():
    first, second = torch.npu.Stream(), torch.npu.Stream()
    event = torch.npu.Event()
    with Gate(first) as gate:
        event.record(first)
        event.wait(second)
        after = second.record_event()
        assert not event.query()
        assert not after.query()
        gate.open_later()
        event.synchronize()
        assert gate.opened.is_set()
        assert event.query()
    after.synchronize()
    assert after.query()


@pytest.mark.api("torch.npu.Event.elapsed_time", "torch.npu.Event.recorded_time")
def test_times():
    start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    with pytest.raises(RuntimeError, match="must be recorded"):
        start.elapsed_time(end)
    with pytest.raises(RuntimeError, match="must be recorded"):
        start.recorded_time()
    start.record()
    start.synchronize()
    time.sleep(0.02)
    end.record()
    end.synchronize()
    ms = start.elapsed_time(end)
    us = end.recorded_time() - start.recorded_time()
    assert ms >= 19
    assert us == pytest.approx(1000 * ms, abs=2)
    untimed = torch.npu.Event()
    untimed.record()
    untimed.synchronize()
    with pytest.raises(ValueError, match="enable_timing=True"):
        untimed.elapsed_time(end)
    with pytest.raises(ValueError, match="enable_timing=True"):
        untimed.recorded_time()


def test_times_of_unfinished_work():
    stream = torch.npu.Stream()
    start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    with Gate(stream):
        start.record(stream)
        end.record(stream)
        with pytest.raises(RuntimeError, match="complete"):
            start.elapsed_time(end)
        with pytest.raises(RuntimeError, match="complete"):
            start.recorded_time()
    end.synchronize()


@pytest.mark.api(
    "torch.npu.ExternalEvent.__new__",
    "torch.npu.ExternalEvent.record",
    "torch.npu.ExternalEvent.wait",
    "torch.npu.ExternalEvent.reset",
    "torch.npu.ExternalEvent.query",
    "torch.npu.ExternalEvent.synchronize",
    "torch.npu.ExternalEvent.npu_event",
)
def test_an_external_event_is_waited_for_before_its_record():
    waiting, recording = torch.npu.Stream(), torch.npu.Stream()
    event = torch.npu.ExternalEvent()
    assert event.npu_event == 0
    for _ in range(2):
        event.wait(waiting)
        after = waiting.record_event()
        assert event.npu_event != 0
        time.sleep(0.02)
        assert not after.query()
        event.record(recording)
        after.synchronize()
        assert event.query()
        event.reset(waiting)
        assert not event.query()
    event.record(recording)
    event.synchronize()
    assert event.query()
    with pytest.raises((ValueError, RuntimeError)):
        event.elapsed_time(event)
    with pytest.raises(RuntimeError, match="interprocess"):
        event.ipc_handle()


@pytest.mark.api("torch.npu.Event.reset")
def test_reset():
    event = torch.npu.Event()
    event.record()
    event.synchronize()
    event.reset()
    torch.npu.synchronize()
    event.record()
    event.synchronize()
    assert event.query()


CHILD = """
import sys, torch
event = torch.npu.Event.from_ipc_handle(0, bytes.fromhex(sys.argv[1]))
print(event.query(), event.device)
event.synchronize()
event.wait()
print((torch.ones(2, device="npu") + 1).tolist(), event.query())
"""


@pytest.mark.api("torch.npu.Event.ipc_handle", "torch.npu.Event.from_ipc_handle")
def test_an_event_of_another_process():
    event = torch.npu.Event(interprocess=True)
    handle = event.ipc_handle()
    assert event.npu_event != 0
    assert handle == event.ipc_handle()
    event.record()
    event.synchronize()
    assert fresh.output(CHILD, handle.hex()).splitlines() == ["True npu:0", "[2.0, 2.0] True"]
    opened = torch.npu.Event.from_ipc_handle("npu:0", handle)
    stream = torch.npu.Stream()
    with Gate(stream):
        event.record(stream)
        assert not opened.query()
    opened.synchronize()
    assert opened.query()


def test_bad_handles_and_arguments():
    with pytest.raises(RuntimeError, match="interprocess"):
        torch.npu.Event().ipc_handle()
    with pytest.raises(TypeError, match="must be bytes"):
        torch.npu.Event.from_ipc_handle(0, "name")
    with pytest.raises(ValueError, match="bytes, not 3"):
        torch.npu.Event.from_ipc_handle(0, b"abc")
    size = len(torch.npu.Event(interprocess=True).ipc_handle())
    with pytest.raises(RuntimeError):
        torch.npu.Event.from_ipc_handle(0, b"x" * size)
    with pytest.raises(RuntimeError, match="enable_timing"):
        torch.npu.Event(enable_timing=True, interprocess=True)
    for created in (torch.npu.Event(), torch.npu.ExternalEvent()):
        for call in (created.record, created.wait, created.reset):
            for wrong in (3, "npu:0", object()):
                with pytest.raises(TypeError, match=r"stream must be a torch\.Stream, not"):
                    call(wrong)


def test_an_event_belongs_to_one_device():
    program = """
import torch
event = torch.npu.Event()
event.record(torch.npu.Stream(0))
event.wait(torch.npu.Stream(1))
event.record(torch.npu.Stream(1))
"""
    result = fresh.run(program, SOFTNPU_DEVICE_COUNT="2")
    assert result.returncode != 0
    assert "does not match" in result.stderr
