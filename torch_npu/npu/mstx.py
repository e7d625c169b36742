"""``torch.npu.mstx``: named marks and ranges of a program, which ``torch.profiler`` shows.

A range is a ``torch.profiler.record_function`` of its message. With a stream the range ends when the stream's work of
that time has been done. Names, arguments and return values are the official plug-in's; the counts of pushed ranges are
nvtx's.
"""

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

import torch

from torch_npu._core.warnings import warn
from torch_npu.npu.streams import Stream

_Function = TypeVar("_Function", bound=Callable)


class _Ranges:
    """The open ranges of this process, guarded by ``lock``; pushed ones belong to a thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.started: dict[int, tuple[torch.profiler.record_function, object, str]] = {}
        self.last_id = 0
        self.of_thread = threading.local()

    def stack(self, domain: str) -> list[tuple[torch.profiler.record_function, object]]:
        stacks = self.of_thread.__dict__.setdefault("stacks", {})
        return stacks.setdefault(domain, [])


_ranges = _Ranges()


def _is_text(value: object, what: str, function: str) -> bool:
    if isinstance(value, str) and value:
        return True
    warn(
        f"Invalid {what} for mstx.{function} function. Please provide a valid {what} string.",
        stacklevel=3,
    )
    return False


def _accepts(function: str, message: object, stream: object, domain: object) -> bool:
    if not _is_text(message, "message", function) or not _is_text(domain, "domain", function):
        return False
    if stream is not None and not isinstance(stream, Stream):
        warn(
            f"Invalid stream for mstx.{function} function. Please provide a valid stream.",
            stacklevel=3,
        )
        return False
    return True


def _wait_for(stream: object) -> None:
    """Waits for the work of ``stream``, but only while a profiler records."""
    if isinstance(stream, Stream) and torch.autograd._profiler_enabled():
        stream.synchronize()


def _begin(message: str, domain: str) -> torch.profiler.record_function:
    shown = message if domain == "default" else f"{domain}: {message}"
    record = torch.profiler.record_function(shown)
    record.__enter__()
    return record


def _finish(record: torch.profiler.record_function, stream: object) -> None:
    _wait_for(stream)
    record.__exit__(None, None, None)


class mstx:  # noqa: N801 - the name is the official plug-in's
    """Marks and ranges. Invalid arguments warn and change nothing; no method raises."""

    @staticmethod
    def mark(message: str, stream: Stream | None = None, domain: str = "default") -> None:
        """Marks an instant: a range without duration in the profile.

        Args:
            message: the name that is shown; not empty.
            stream: the mark follows the work given to it so far; None marks the host's instant.
            domain: shown before the message, if it is not ``"default"``.
        """
        if _accepts("mark", message, stream, domain):
            _wait_for(stream)
            _finish(_begin(message, domain), None)

    @staticmethod
    def range_push(message: str, stream: Stream | None = None, domain: str = "default") -> int:
        """Opens a range inside this thread's open ones.

        Returns:
            The number of ranges that were open in ``domain``; -1 for invalid arguments.
        """
        if not _accepts("range_push", message, stream, domain):
            return -1
        stack = _ranges.stack(domain)
        stack.append((_begin(message, domain), stream))
        return len(stack) - 1

    @staticmethod
    def range_pop(domain: str = "default") -> int:
        """Closes this thread's last opened range of ``domain``.

        Returns:
            The number of ranges that stay open in ``domain``; -1 if none was open, or for an invalid domain.
        """
        if not _is_text(domain, "domain", "range_pop"):
            return -1
        stack = _ranges.stack(domain)
        if not stack:
            return -1
        _finish(*stack.pop())
        return len(stack)

    @staticmethod
    def range_start(message: str, stream: Stream | None = None, domain: str = "default") -> int:
        """Opens a range that any thread may close by its number.

        Returns:
            The number, for :meth:`range_end`; 0 for invalid arguments.
        """
        if not _accepts("range_start", message, stream, domain):
            return 0
        record = _begin(message, domain)
        with _ranges.lock:
            _ranges.last_id += 1
            _ranges.started[_ranges.last_id] = (record, stream, domain)
            return _ranges.last_id

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """Closes the range with the number ``range_id`` of ``domain``; warns if there is none."""
        if not _is_text(domain, "domain", "range_end"):
            return
        with _ranges.lock:
            known = isinstance(range_id, int) and range_id in _ranges.started
            if known and _ranges.started[range_id][2] == domain:
                record, stream, _ = _ranges.started.pop(range_id)
            else:
                record = None
        if record is None:
            warn(
                f"Invalid range_id for mstx.range_end function: {range_id!r} is no open range of domain {domain!r}. "
                "Please provide the return value from mstx.range_start.",
                stacklevel=2,
            )
            return
        _finish(record, stream)

    @staticmethod
    def mstx_range(
        message: str, stream: Stream | None = None, domain: str = "default"
    ) -> Callable[[_Function], _Function]:
        """Decorates a function so that each call is a range."""

        def decorate(function: _Function) -> _Function:
            @functools.wraps(function)
            def with_range(*args: object, **kwargs: object) -> object:
                with annotate(message, stream, domain):
                    return function(*args, **kwargs)

            return with_range  # type: ignore[return-value]

        return decorate


class annotate:  # noqa: N801
    """A range as a context manager, or as a decorator; its message is then the function's name if none is given.

    Args:
        message: the name that is shown.
        stream: as in :meth:`mstx.mark`.
        domain: as in :meth:`mstx.mark`.
    """

    def __init__(
        self, message: str = "", stream: Stream | None = None, domain: str = "default"
    ) -> None:
        """See the class for the arguments."""
        self.message = message
        self.stream = stream
        self.domain = domain
        self.range_id: int | None = None

    def __enter__(self) -> "annotate":
        """Opens the range."""
        self.range_id = mstx.range_start(self.message, self.stream, self.domain)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Closes the range, also after an exception."""
        if self.range_id:
            mstx.range_end(self.range_id, self.domain)
        self.range_id = None

    def __call__(self, func: _Function) -> _Function:
        """Decorates ``func``: each call is a range."""
        return mstx.mstx_range(self.message or func.__name__, self.stream, self.domain)(func)


# The class has the name of this module in torch.npu, so the module's names are reachable through it.
mstx.annotate = annotate  # type: ignore[attr-defined]
mstx.mstx = mstx  # type: ignore[attr-defined]

__all__ = ["annotate", "mstx"]
