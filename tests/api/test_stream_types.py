"""The classes of streams and events, and what all of their instances say."""

import pytest
import torch


def external_stream():
    return torch.npu.ExternalStream(torch.npu.Stream().npu_stream)


STREAMS = {
    "Stream": lambda: torch.npu.Stream(),
    "SyncLaunchStream": lambda: torch.npu.SyncLaunchStream(),
    "ExternalStream": external_stream,
}
EVENTS = {
    "Event": lambda: torch.npu.Event(),
    "ExternalEvent": lambda: torch.npu.ExternalEvent(),
}


def cases(makers, attributes, there=lambda name: hasattr(torch.npu, name)):
    """A case for each class, with the marks of the class and of its attributes."""
    for name in filter(there, makers):
        names = [f"torch.npu.{name}", f"torch.npu.streams.{name}"]
        names += [f"torch.npu.{name}.{attribute}" for attribute in attributes]
        yield pytest.param(name, makers[name], id=name, marks=pytest.mark.api(*names))


@pytest.mark.parametrize(
    ("name", "make"), cases(STREAMS, ("device", "device_index", "device_type", "stream_id"))
)
def test_a_stream_knows_its_device_and_its_number(name, make):
    stream = make()
    assert type(stream) is getattr(torch.npu, name)
    assert stream.device == torch.device("npu", 0)
    assert stream.device_index == 0
    assert stream.device_type == torch.npu.default_stream().device_type > 1
    assert stream.stream_id not in (0, None)
    assert torch.npu.default_stream().stream_id == 0
    with torch.npu.stream(stream):
        assert torch.npu.current_stream().stream_id == stream.stream_id


@pytest.mark.api("torch.npu.Stream.__new__", "torch.npu.SyncLaunchStream.__new__")
@pytest.mark.parametrize("kind", ["Stream", "SyncLaunchStream"])
def test_a_number_names_a_stream_that_exists(kind):
    known = STREAMS[kind]()
    ids = {"device_index": known.device_index, "device_type": known.device_type}
    again = type(known)(stream_id=known.stream_id, **ids)
    assert again == known
    assert type(again) is type(known)
    for wrong in (99999, -1):
        with pytest.raises(RuntimeError, match=f"npu stream {wrong} does not exist"):
            type(known)(stream_id=wrong, **ids)
    for wrong in (99, 999, -1):
        with pytest.raises(RuntimeError, match=f"Invalid NPU device index npu:{wrong}"):
            type(known)(stream_id=known.stream_id, **(ids | {"device_index": wrong}))


@pytest.mark.parametrize(("name", "make"), cases(EVENTS, ("device", "event_id")))
def test_an_event_has_a_device_and_a_handle_when_it_is_recorded(name, make):
    first, second = make(), make()
    assert type(first) is getattr(torch.npu, name)
    for event in (first, second):
        event.record(torch.npu.current_stream())
        assert event.device == torch.device("npu", 0)
        assert event.event_id > 0
    assert first.event_id != second.event_id


@pytest.mark.api("torch.npu.StreamContext", "torch.npu.stream")
@pytest.mark.api("torch.npu.StreamContext.__enter__", "torch.npu.StreamContext.__exit__")
def test_a_stream_is_current_in_its_context():
    stream, before = torch.npu.Stream(), torch.npu.current_stream()
    for context in (torch.npu.StreamContext(stream), torch.npu.stream(stream)):
        with context:
            assert torch.npu.current_stream() == stream
        assert torch.npu.current_stream() == before
    with torch.npu.stream(None):
        assert torch.npu.current_stream() == before
