"""Streams and events: PyTorch's own classes, bound to the device type npu."""

import torch

from torch_npu.npu import _state


class Stream(torch.Stream):
    """A queue of work on one NPU.

    ``priority`` is 0 or negative; the device runs the ready stream with the lowest number first. Numbers are clamped
    to :meth:`priority_range`.
    """

    def __new__(cls, device: _state.Device = None, priority: int = 0, **kwargs: int) -> "Stream":
        """A stream of ``device`` (default: the current one), or the one with the id ``stream_id``."""
        if "stream_id" in kwargs:
            return super().__new__(cls, **kwargs)
        return super().__new__(cls, device=f"npu:{_state.device_index(device)}", priority=priority)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The least urgent priority and the most urgent one."""
        return 0, int(_state.native().GREATEST_STREAM_PRIORITY)

    @property
    def priority(self) -> int:
        """The stream's priority: 0, or negative if it is more urgent."""
        return int(_state.native().stream_priority(self.device_index, self.stream_id))

    def wait_event(self, event: "Event") -> None:
        """Makes later work wait for ``event``."""
        event.wait(self)

    def record_event(self, event: "Event | None" = None) -> "Event":
        """Records ``event`` (default: a new one) after the work enqueued so far."""
        event = Event() if event is None else event
        event.record(self)
        return event


class Event(torch.Event):
    """A recorded position in a stream. ``enable_timing`` enables :meth:`elapsed_time` (in ms)."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> "Event":
        """An event that is not recorded yet."""
        made = super().__new__(
            cls, "npu", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
        )
        made._has_time = enable_timing
        return made

    def record(self, stream: torch.Stream | None = None) -> None:
        """Records the event in ``stream`` (default: the current one)."""
        super().record(current_stream() if stream is None else stream)

    def elapsed_time(self, end_event: torch.Event) -> float:
        """Milliseconds from this event to ``end_event``; both must be recorded and complete.

        Raises:
            ValueError: one of them was made without ``enable_timing``.
            RuntimeError: one of them was not recorded, or is not complete yet.
        """
        if not all(getattr(event, "_has_time", True) for event in (self, end_event)):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        return float(_state.native().elapsed_time(self.event_id, end_event.event_id))

    def wait(self, stream: torch.Stream | None = None) -> None:
        """Makes ``stream`` (default: the current one) wait for this event."""
        super().wait(current_stream() if stream is None else stream)


def _wrap(stream: torch.Stream) -> Stream:
    return Stream(
        stream_id=stream.stream_id,
        device_index=stream.device_index,
        device_type=stream.device_type,
    )


def current_stream(device: _state.Device = None) -> Stream:
    """This thread's current stream on ``device``."""
    return _wrap(torch.accelerator.current_stream(f"npu:{_state.device_index(device)}"))


def default_stream(device: _state.Device = None) -> Stream:
    """The default stream of ``device``."""
    current = current_stream(device)
    return Stream(stream_id=0, device_index=current.device_index, device_type=current.device_type)


def set_stream(stream: torch.Stream) -> None:
    """Makes ``stream`` the current one of its device, and that device the current one."""
    torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager that makes a stream current; None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        """Takes the stream."""
        self.stream = stream
        self.previous: list[torch.Stream] = []

    def __enter__(self) -> None:
        """Switches to the stream and its device."""
        if self.stream is None:
            return
        self.previous = [current_stream(), current_stream(self.stream.device_index)]
        set_stream(self.stream)

    def __exit__(self, *_: object) -> None:
        """Switches back."""
        for stream in reversed(self.previous):
            set_stream(stream)
        self.previous = []


def stream(stream: torch.Stream | None) -> StreamContext:
    """``with torch.npu.stream(s): ...``."""
    return StreamContext(stream)
