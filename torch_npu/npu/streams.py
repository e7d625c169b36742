"""Streams and events: PyTorch's own classes, bound to the device type npu."""

import ctypes
from typing import Any

import torch

from torch_npu._core import devices, state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu.npu.device import device_count

_preprocessing: set[tuple[int, int]] = set()  # (device, id) of streams for preparing data


class _StreamBase(torch.Stream):
    """What all streams of an NPU can do."""

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The least urgent priority and the most urgent one."""
        return 0, int(state.native().GREATEST_STREAM_PRIORITY)

    @property
    def priority(self) -> int:
        """The stream's priority: 0, or negative if it is more urgent."""
        return int(state.native().stream_priority(self.device_index, self.stream_id))

    @property
    def npu_stream(self) -> int:
        """The runtime's handle of the stream, an ``aclrtStream``."""
        return int(state.native().stream_handle(self.device_index, self.stream_id))

    @property
    def native_handle(self) -> int:
        """The same as :attr:`npu_stream`."""
        return self.npu_stream

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.npu_stream)

    def is_capturing(self) -> bool:
        """Whether a graph captures the stream's work."""
        return bool(state.native().is_capturing(self.device_index, self.stream_id))

    def wait_event(self, event: torch.Event) -> None:
        """Makes later work wait for ``event``."""
        event.wait(self)

    def wait_stream(self, stream: torch.Stream) -> None:
        """Makes later work wait for all work that is enqueued in ``stream`` now."""
        self.wait_event(stream.record_event())

    def record_event(self, event: "Event | ExternalEvent | None" = None) -> Any:  # noqa: ANN401
        """Records ``event`` (default: a new :class:`Event`) after the work enqueued so far, and returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all work of the stream is done."""
        return bool(super().query())

    def synchronize(self) -> None:
        """Waits for all work of the stream and raises errors of asynchronous work."""
        super().synchronize()

    def set_data_preprocess_stream(self, is_data_preprocess_stream: bool = False) -> None:
        """Marks the stream as one that prepares data, or takes the mark back.

        On hardware it is a hint for the choice of kernels. Software kernels are the same for all streams.
        """
        if not isinstance(is_data_preprocess_stream, bool):
            raise TypeError(
                f"is_data_preprocess_stream must be a bool, not {type(is_data_preprocess_stream).__name__}"
                + pta_error(ErrCode.TYPE)
            )
        key = (self.device_index, self.stream_id)
        _preprocessing.discard(key)
        if is_data_preprocess_stream:
            _preprocessing.add(key)

    @property
    def _is_data_preprocess_stream(self) -> bool:
        return (self.device_index, self.stream_id) in _preprocessing

    def __eq__(self, other: object) -> bool:
        """Whether both are the same stream of the same device."""
        if not isinstance(other, _StreamBase):
            return False
        return (self.stream_id, self.device_index) == (other.stream_id, other.device_index)

    def __hash__(self) -> int:
        """Equal streams have equal hashes."""
        return hash((self.stream_id, self.device))

    def __repr__(self) -> str:
        """The class, the device and the runtime's handle."""
        name = type(self).__name__
        return f"<torch_npu.npu.{name} device={self.device} npu_stream={self.npu_stream:#x}>"


def _stream_by_id(cls: type, device: int, stream_id: int) -> Any:  # noqa: ANN401
    return torch.Stream.__new__(
        cls,
        stream_id=stream_id,
        device_index=device,
        device_type=int(torch._C._autograd.DeviceType.PrivateUse1),
    )


def _known_stream(cls: type, **ids: int) -> Any:  # noqa: ANN401
    result: Any = torch.Stream.__new__(cls, **ids)
    index, count = ids.get("device_index", result.device_index), device_count()
    if not 0 <= index < count:
        raise RuntimeError(f"Invalid NPU device index npu:{index}: there are {count} devices")
    state.native().stream_priority(index, result.stream_id)  # raises where there is none
    return result


class Stream(_StreamBase):
    """A queue of work on one NPU.

    ``priority`` is 0 or negative; the device runs the ready stream with the lowest number first. Numbers are clamped
    to :meth:`priority_range`.
    """

    def __new__(
        cls,
        device: devices.Device = None,
        priority: int = 0,
        **kwargs: Any,  # noqa: ANN401
    ) -> "Stream":
        """A stream of ``device`` (default: the current one), or the one with the id ``stream_id``.

        ``is_sync_launch=True`` gives a :class:`SyncLaunchStream`'s: the task queue does not launch its work.

        Raises:
            RuntimeError: the device or the stream does not exist.
        """
        if "stream_id" in kwargs:
            return _known_stream(cls, **kwargs)
        if kwargs.pop("is_sync_launch", False):
            index = devices.device_index(device)
            return _stream_by_id(cls, index, state.native().sync_launch_stream(index))
        if kwargs:
            raise TypeError(
                f"Stream() has no argument {next(iter(kwargs))!r}" + pta_error(ErrCode.TYPE)
            )
        return torch.Stream.__new__(
            cls, device=f"npu:{devices.device_index(device)}", priority=priority
        )


class ExternalStream(Stream):
    """The stream of a handle that another library made, and that it keeps alive."""

    def __new__(
        cls,
        stream_ptr: int,
        device: devices.Device = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> "ExternalStream":
        """The stream of the ``aclrtStream`` with the address ``stream_ptr`` on ``device``.

        Raises:
            TypeError: ``stream_ptr`` is no integer.
            RuntimeError: it is no stream of the device, or an argument other than the device is given.
        """
        if isinstance(stream_ptr, bool) or not isinstance(stream_ptr, int):
            raise TypeError(
                f"stream_ptr must be an int, not {type(stream_ptr).__name__}"
                + pta_error(ErrCode.TYPE)
            )
        if any(kwargs.values()):
            raise RuntimeError(
                f"an external stream is as its owner made it: {', '.join(kwargs)} cannot be set"
            )
        index = devices.device_index(device)
        return _stream_by_id(cls, index, state.native().external_stream(index, stream_ptr))


class SyncLaunchStream(_StreamBase):
    """A stream that bypasses the task queue: the calling thread launches its work."""

    def __new__(
        cls,
        device: devices.Device = None,
        priority: int = 0,
        **kwargs: Any,  # noqa: ANN401
    ) -> "SyncLaunchStream":
        """A stream of ``device``; all have the priority 0."""
        if "stream_id" in kwargs:
            return _known_stream(cls, **kwargs)
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(
                f"priority must be an int, not {type(priority).__name__}" + pta_error(ErrCode.TYPE)
            )
        index = devices.device_index(device)
        return _stream_by_id(cls, index, state.native().sync_launch_stream(index))


def _checked_stream(stream: torch.Stream | None) -> torch.Stream:
    """``stream``, or the current one for None: PyTorch's events read any object as a stream."""
    if stream is None:
        return current_stream()
    if not isinstance(stream, torch.Stream):
        raise TypeError(
            f"stream must be a torch.Stream, not {type(stream).__name__}" + pta_error(ErrCode.TYPE)
        )
    return stream


class _EventBase(torch.Event):
    """What all events of an NPU can do."""

    _has_time: bool
    _kind: str  # local, interprocess, external

    def record(self, stream: torch.Stream | None = None) -> None:
        """Records the event in ``stream`` (default: the current one), a stream of the event's device."""
        stream = _checked_stream(stream)
        self._create(stream.device_index)
        super().record(stream)

    def wait(self, stream: torch.Stream | None = None) -> None:
        """Makes ``stream`` (default: the current one) wait for this event."""
        super().wait(_checked_stream(stream))

    def query(self) -> bool:
        """Whether all work recorded by the event is done."""
        return bool(super().query())

    def synchronize(self) -> None:
        """Waits until the work recorded by the event is done."""
        super().synchronize()

    def reset(self, stream: torch.Stream | None = None) -> None:
        """Clears the record in ``stream`` (default: the current one), so that later waits need a new record."""
        stream = _checked_stream(stream)
        if self.event_id:
            state.native().reset_event(self.event_id, stream.device_index, stream.stream_id)

    def elapsed_time(self, end_event: torch.Event) -> float:
        """Milliseconds from this event to ``end_event``; both must be recorded and complete.

        Raises:
            ValueError: one of them was made without ``enable_timing``.
            RuntimeError: one of them was not recorded, or is not complete yet.
        """
        if not all(getattr(event, "_has_time", True) for event in (self, end_event)):
            raise ValueError(
                "Both events must be created with argument 'enable_timing=True'."
                + pta_error(ErrCode.VALUE)
            )
        return float(state.native().elapsed_time(self.event_id, end_event.event_id))

    def recorded_time(self) -> int:
        """The device's clock in microseconds when the recorded work was done.

        Raises:
            ValueError: the event was made without ``enable_timing``.
            RuntimeError: it was not recorded, or is not complete yet.
        """
        if not self._has_time:
            raise ValueError(
                "The event must be created with argument 'enable_timing=True'."
                + pta_error(ErrCode.VALUE)
            )
        if not self.event_id:
            raise RuntimeError("The event must be recorded before getting its recorded time.")
        return int(state.native().event_time(self.event_id))

    def ipc_handle(self) -> bytes:
        """The event's name for :meth:`from_ipc_handle` in other processes; it uses the current device if not recorded.

        Raises:
            RuntimeError: the event was made without ``interprocess``.
        """
        if self._kind != "interprocess":
            raise RuntimeError("ipc_handle needs an event that was made with interprocess=True")
        self._create(devices.device_index())
        return bytes(state.native().event_key(self.event_id))

    @classmethod
    def from_ipc_handle(cls, device: devices.Device, handle: bytes) -> "_EventBase":
        """The event of another process's :meth:`ipc_handle`, on ``device``.

        Raises:
            TypeError: ``handle`` is not bytes.
            ValueError: it is too short or too long.
            RuntimeError: no live event has this handle.
        """
        if not isinstance(handle, bytes):
            raise TypeError(
                f"handle must be bytes, not {type(handle).__name__}" + pta_error(ErrCode.TYPE)
            )
        result = torch.Event.__new__(cls, "npu", interprocess=True)
        result._has_time, result._kind = False, "interprocess"
        state.native().open_event(result, devices.device_index(device), handle)
        return result

    @property
    def npu_event(self) -> int:
        """The runtime's handle of the event, an ``aclrtEvent``; 0 before the first record."""
        return int(self.event_id or 0)

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.npu_event)

    def _create(self, device: int) -> None:
        if self._kind != "local" and not self.event_id:
            native = state.native()
            flag = native.EVENT_EXTERNAL if self._kind == "external" else native.EVENT_INTERPROCESS
            native.create_event(self, device, flag)

    def __repr__(self) -> str:
        """The class and the runtime's handle."""
        handle = f"{self.npu_event:#x}" if self.npu_event else "uninitialized"
        return f"<torch_npu.npu.{type(self).__name__} {handle}>"


class Event(_EventBase):
    """A recorded position in a stream.

    ``enable_timing`` enables :meth:`elapsed_time` (in ms); ``interprocess`` enables :meth:`ipc_handle`.
    """

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> "Event":
        """An event that is not recorded yet.

        Raises:
            RuntimeError: both ``enable_timing`` and ``interprocess`` are set.
        """
        if interprocess and enable_timing:
            raise RuntimeError("an event with interprocess=True cannot have enable_timing=True")
        result = super().__new__(
            cls, "npu", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess
        )
        result._has_time = enable_timing
        result._kind = "interprocess" if interprocess else "local"
        return result


class ExternalEvent(_EventBase):
    """An event that streams may wait for before it is recorded. :meth:`reset` makes it usable once more."""

    def __new__(cls) -> "ExternalEvent":
        """An event that is not recorded yet."""
        result = super().__new__(cls, "npu")
        result._has_time, result._kind = False, "external"
        return result

    def wait(self, stream: torch.Stream | None = None) -> None:
        """Makes ``stream`` (default: the current one) wait for the event's record, which may be made later."""
        stream = _checked_stream(stream)
        self._create(stream.device_index)
        super().wait(stream)


def _wrap(stream: torch.Stream) -> Stream:
    return torch.Stream.__new__(
        Stream,
        stream_id=stream.stream_id,
        device_index=stream.device_index,
        device_type=stream.device_type,
    )


def current_stream(device: devices.Device = None) -> Stream:
    """This thread's current stream on ``device``."""
    return _wrap(torch.accelerator.current_stream(f"npu:{devices.device_index(device)}"))


def default_stream(device: devices.Device = None) -> Stream:
    """The default stream of ``device``."""
    current = current_stream(device)
    return Stream(stream_id=0, device_index=current.device_index, device_type=current.device_type)


def set_stream(stream: torch.Stream | None) -> None:
    """Makes ``stream`` the current one of its device, and that device the current one; None changes nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager that makes a stream current; None changes nothing."""

    def __init__(self, stream_ctx: torch.Stream | None) -> None:
        """Takes the stream."""
        self.stream = stream_ctx
        self.previous: list[torch.Stream] = []

    def __enter__(self) -> None:
        """Switches to the stream and its device."""
        if self.stream is None:
            return
        self.previous = [current_stream(), current_stream(self.stream.device_index)]
        set_stream(self.stream)

    def __exit__(self, exec_type: object, exec_value: object, traceback: object) -> None:
        """Switches back."""
        for stream in reversed(self.previous):
            set_stream(stream)
        self.previous = []


def stream(stream: torch.Stream | None) -> StreamContext:
    """``with torch.npu.stream(s): ...``."""
    return StreamContext(stream)


def is_current_stream_capturing() -> bool:
    """Whether a graph captures the current stream's work."""
    return current_stream().is_capturing()


def _erase_stream(tensor: torch.Tensor, stream: torch.Stream) -> None:
    """Takes back ``tensor.record_stream(stream)``: the memory may be reused once the tensor is freed.

    The tensor's own stream must have waited for an event after the last use in ``stream``.

    Raises:
        TypeError: an argument has another type.
        RuntimeError: the tensor has no memory on the stream's device.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"tensor should be torch.Tensor, could not be {type(tensor)}" + pta_error(ErrCode.TYPE)
        )
    if not isinstance(stream, Stream):
        raise TypeError(
            f"stream should be torch_npu.npu.Stream, could not be {type(stream)}"
            + pta_error(ErrCode.TYPE)
        )
    state.native().erase_stream(
        tensor.untyped_storage().data_ptr(), stream.device_index, stream.stream_id
    )
