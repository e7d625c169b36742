"""Finds races between streams: accesses to the same memory that no event, wait or synchronisation orders.

``TORCH_NPU_SANITIZER=1`` checks a whole program; ``with Sanitizer():`` a part of it. The first race raises
:class:`RaceError` with the stacks of both accesses. As in torch.cuda._sanitizer, streams have vector clocks: each launch
on a stream gets a number, and a stream knows the numbers of the others that its next launch comes after.

Memory is known by the ranges of addresses that tensors span, so that two streams may use disjoint parts of one tensor.
Seen are operators of PyTorch, :class:`torch.npu.Stream`, :class:`torch.npu.Event` and torch.npu.synchronize, of the
thread that entered the check; not torch.Event and torch.Stream themselves.
"""

import functools
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torch_npu._core import environment
from torch_npu.npu.streams import _EventBase, _StreamBase, current_stream

_Key: TypeAlias = tuple[int, int]  # device, stream
_Clock: TypeAlias = dict[_Key, int]
_CLOCK = "_sanitizer_clock"
_HIDDEN = (
    "torch/utils/_python_dispatch.py",
    "torch/_ops.py",
    "torch/_compile.py",
    "npu/sanitizer.py",
)


class RaceError(RuntimeError):
    """Two streams access the same memory, and nothing orders them."""


@dataclass(frozen=True)
class Access:
    """One operator's access to a range of addresses."""

    operator: str
    stream: _Key
    number: int  # of the launch on its stream
    is_write: bool
    begin: int
    end: int
    stack: traceback.StackSummary = field(repr=False, compare=False)

    def __str__(self) -> str:
        """What it does, on which stream, and its stack."""
        what = "writes" if self.is_write else "reads"
        lines = "".join(self.stack.format())
        return f"{self.operator} {what} it on stream {self.stream[1]} of npu:{self.stream[0]}:\n{lines}"


@dataclass
class _Memory:
    """A storage and the accesses that later ones may race with."""

    alive: StorageWeakRef
    owner: _Key  # the stream that it was allocated for
    accesses: list[Access] = field(default_factory=list)
    recorded: set[_Key] = field(default_factory=set)  # by Tensor.record_stream


def _stack() -> traceback.StackSummary:
    frames = traceback.walk_stack(sys._getframe(2))
    found = traceback.StackSummary.extract(frames, lookup_lines=False)
    found.reverse()
    shown = [frame for frame in found if not frame.filename.endswith(_HIDDEN)]
    return traceback.StackSummary.from_list(shown)


def _key(stream: torch.Stream) -> _Key:
    return stream.device_index, stream.stream_id


def _join(clock: _Clock, other: _Clock) -> None:
    for stream, number in other.items():
        clock[stream] = max(clock.get(stream, 0), number)


def _range(t: torch.Tensor) -> tuple[int, int]:
    begin = t.data_ptr()
    last = sum((n - 1) * stride for n, stride in zip(t.shape, t.stride(), strict=True))
    return begin, begin + (last + 1) * t.element_size()


def _tensors(tree: object) -> Iterator[torch.Tensor]:
    for leaf in tree_leaves(tree):
        is_npu = isinstance(leaf, torch.Tensor) and leaf.device.type == "npu"
        if is_npu and leaf.layout is torch.strided and leaf.numel() and leaf.data_ptr():
            yield leaf


class Sanitizer(TorchDispatchMode):
    """Checks the operators of this thread while it is entered.

    Args:
        raises: whether a race raises :class:`RaceError`; else :attr:`races` collects their texts.
    """

    def __init__(self, raises: bool = True) -> None:
        """Checks nothing until it is entered."""
        super().__init__()
        self.races: list[str] = []
        self._raises = raises
        self._clocks: dict[_Key, _Clock] = {}
        self._host: _Clock = {}
        self._memories: dict[int, _Memory] = {}
        self._restore: list[Callable[[], None]] = []

    def __enter__(self) -> "Sanitizer":
        """Starts; work that was launched before counts as done."""
        self._wrap(_EventBase, "record", self._on_record)
        self._wrap(_EventBase, "wait", self._on_wait)
        self._wrap(_EventBase, "synchronize", self._on_event_synchronize)
        self._wrap(_EventBase, "query", self._on_event_query)
        self._wrap(_StreamBase, "synchronize", self._on_stream_synchronize)
        self._wrap(_StreamBase, "query", self._on_stream_query)
        for module in (sys.modules[__package__], torch.accelerator):
            self._wrap(module, "synchronize", self._on_synchronize)
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Stops."""
        super().__exit__(*error)
        while self._restore:
            self._restore.pop()()

    def _wrap(self, owner: Any, name: str, after: Callable[..., None]) -> None:  # noqa: ANN401
        plain = getattr(owner, name)

        @functools.wraps(plain)
        def wrapped(*args: object, **kwargs: object) -> object:
            result = plain(*args, **kwargs)
            after(result, *args, **kwargs)
            return result

        setattr(owner, name, wrapped)
        self._restore.append(lambda: setattr(owner, name, plain))

    def _clock(self, stream: torch.Stream | _Key | None) -> _Clock:
        key = (
            stream
            if isinstance(stream, tuple)
            else _key(current_stream() if stream is None else stream)
        )
        return self._clocks.setdefault(key, dict(self._host))

    def _on_record(self, _: object, event: Any, stream: torch.Stream | None = None) -> None:  # noqa: ANN401
        setattr(event, _CLOCK, dict(self._clock(stream)))

    def _on_wait(self, _: object, event: object, stream: torch.Stream | None = None) -> None:
        _join(self._clock(stream), getattr(event, _CLOCK, {}))

    def _on_event_synchronize(self, _: object, event: object) -> None:
        _join(self._host, getattr(event, _CLOCK, {}))

    def _on_event_query(self, is_done: object, event: object) -> None:
        if is_done:
            self._on_event_synchronize(None, event)

    def _on_stream_synchronize(self, _: object, stream: torch.Stream) -> None:
        _join(self._host, self._clock(stream))

    def _on_stream_query(self, is_done: object, stream: torch.Stream) -> None:
        if is_done:
            self._on_stream_synchronize(None, stream)

    def _on_synchronize(self, *_: object) -> None:
        for clock in self._clocks.values():
            _join(self._host, clock)

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> object:
        """Checks what the operator reads, runs it, checks what it writes."""
        kwargs = kwargs or {}
        self._find_freed()
        if func.__name__.startswith("record_stream"):
            tensor, stream = args
            self._memory(tensor, _key(current_stream(tensor.device))).recorded.add(_key(stream))
            return func(*args, **kwargs)
        inputs = {id(t) for t in _tensors((args, kwargs))}
        stack = _stack() if inputs else None
        launch: dict[int, tuple[_Key, int]] = {}
        moves = not _is_view(func)
        if stack is not None and moves:
            for value, argument in _with_arguments(func, args, kwargs):
                info = argument.alias_info
                for t in _tensors(value):
                    self._access(func, t, info is not None and info.is_write, stack, launch)
        result = func(*args, **kwargs)
        for t in _tensors(result):
            if moves and id(t) not in inputs:
                stack = stack or _stack()
                self._access(func, t, True, stack, launch)
            else:
                self._memory(t, _key(current_stream(t.device)))
        if _host_waits(func, args, kwargs, result):
            for key, _ in launch.values():
                _join(self._host, self._clock(key))
        return result

    def _launch(self, device: int, launch: dict[int, tuple[_Key, int]]) -> tuple[_Key, int]:
        if device not in launch:
            key = _key(current_stream(device))
            clock = self._clock(key)
            _join(clock, self._host)
            clock[key] = clock.get(key, 0) + 1
            launch[device] = key, clock[key]
        return launch[device]

    def _memory(self, t: torch.Tensor, owner: _Key) -> _Memory:
        storage = t.untyped_storage()
        known = self._memories.get(storage._cdata)
        if known is None:
            known = self._memories[storage._cdata] = _Memory(StorageWeakRef(storage), owner)
        return known

    def _access(
        self,
        func: torch._ops.OpOverload,
        t: torch.Tensor,
        is_write: bool,
        stack: traceback.StackSummary,
        launch: dict[int, tuple[_Key, int]],
    ) -> None:
        stream, number = self._launch(t.device.index, launch)
        clock = self._clock(stream)
        access = Access(str(func), stream, number, is_write, *_range(t), stack)
        memory = self._memory(t, stream)
        for earlier in memory.accesses:
            overlaps = earlier.begin < access.end and access.begin < earlier.end
            is_ordered = clock.get(earlier.stream, 0) >= earlier.number
            if overlaps and (is_write or earlier.is_write) and not is_ordered:
                shape = f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}"
                self._report(
                    f"a race between streams on memory of a tensor {shape}:\n{access}\n{earlier}\n"
                    "Order them: the second stream waits for an event of the first one (wait_stream, wait_event)."
                )
                break
        # What this access comes after cannot race with later ones that this access does not race with.
        memory.accesses = [
            a
            for a in memory.accesses
            if not (
                a.stream == stream
                and (is_write or not a.is_write)
                and access.begin <= a.begin
                and a.end <= access.end
            )
        ]
        memory.accesses.append(access)

    def _find_freed(self) -> None:
        for key, memory in list(self._memories.items()):
            if not memory.alive.expired():
                continue
            del self._memories[key]
            clock = dict(self._clock(memory.owner))
            _join(clock, self._host)
            for access in memory.accesses:
                is_ordered = clock.get(access.stream, 0) >= access.number
                if access.stream in memory.recorded or is_ordered:
                    continue
                self._report(
                    f"memory was freed for stream {memory.owner[1]} of npu:{memory.owner[0]}, which may use it again, "
                    f"while another stream uses it:\n{access}\n"
                    "Call tensor.record_stream(stream) after the use, or make the allocating stream wait for it before "
                    "the tensor is freed."
                )
                break

    def _report(self, text: str) -> None:
        self.races.append(text)
        if self._raises:
            raise RaceError(text)


def _is_view(func: torch._ops.OpOverload) -> bool:
    """Whether it touches no memory."""
    name = func.__name__.partition(".")[0]
    is_alias = any(
        r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns
    )
    return is_alias or name.startswith(("empty", "new_empty", "set_")) or name == "detach"


def _with_arguments(
    func: torch._ops.OpOverload, args: tuple, kwargs: dict
) -> Iterator[tuple[object, Any]]:
    for i, argument in enumerate(func._schema.arguments):
        if i < len(args):
            yield args[i], argument
        elif argument.name in kwargs:
            yield kwargs[argument.name], argument


def _host_waits(func: torch._ops.OpOverload, args: tuple, kwargs: dict, result: object) -> bool:
    if func.tags and {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & {
        *func.tags
    }:
        return True
    if func.__name__.partition(".")[0] not in ("_to_copy", "copy_", "_copy_from"):
        return False
    named = {argument.name: value for value, argument in _with_arguments(func, args, kwargs)}
    devices = {t.device.type for t in tree_leaves((args, result)) if isinstance(t, torch.Tensor)}
    return "cpu" in devices and not named.get("non_blocking", False)


_whole_program: Sanitizer | None = None


def init_from_environment() -> None:
    """Checks the whole program if ``TORCH_NPU_SANITIZER=1``. Called once, when torch_npu is loaded."""
    global _whole_program
    if environment.flag("TORCH_NPU_SANITIZER") and _whole_program is None:
        _whole_program = Sanitizer()
        _whole_program.__enter__()
