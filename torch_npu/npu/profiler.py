"""``torch.npu.profiler``: measures the operators between :func:`start` and :func:`stop`.

The interface is that of ``torch.cuda.profiler``. Beyond it, the report says which operators took the device's time.
"""

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from os import PathLike, fspath
from typing import Any

import torch
from torch.autograd import DeviceType
from torch.autograd import profiler as _autograd_profiler
from torch.profiler import ProfilerActivity
from torch.profiler import profile as _Profile

from torch_npu._core import state

__all__ = ["OperatorTime", "Report", "profile", "report", "start", "stop"]

# An operator with a larger share, in percent, is a bottleneck.
BOTTLENECK = 20.0

# What to do about a bottleneck, by the beginning of its kernel's name. The first match counts.
_ADVICE = (
    ("aicpu::", "no NPU kernel takes this call, it runs on the AI CPU; torch_npu.utils.explain shows the routes"),
    ("Memcpy", "copies tensors; keep them on the device, and copy whole batches from pinned memory"),
    ("aclnnConvolution", "try memory_format=torch.channels_last, torch.npu.conv.allow_hf32 or autocast to bfloat16"),
    ("aclnn", "try autocast to bfloat16, and larger or fused operators"),
)  # fmt: skip


@dataclass(frozen=True)
class OperatorTime:
    """The calls of one operator: times of the device in milliseconds, and the share of the total in percent."""

    name: str
    count: int
    total_time_ms: float
    average_time_ms: float
    percentage: float
    kernels: tuple[str, ...]  # the names of its work on the device


@dataclass(frozen=True)
class Report:
    """The measured operators, the slowest first; prints as a table.

    Only operators that did work on an npu count, each without those that it called: the percentages sum to 100.
    """

    operators: tuple[OperatorTime, ...]
    _recording: Any = field(repr=False, compare=False)

    @property
    def total_operations(self) -> int:
        """The number of calls."""
        return sum(operator.count for operator in self.operators)

    @property
    def total_time_ms(self) -> float:
        """The device's time in milliseconds, summed over the calls."""
        return sum(operator.total_time_ms for operator in self.operators)

    @property
    def bottlenecks(self) -> tuple[OperatorTime, ...]:
        """The operators with more than 20 % of the time."""
        return tuple(o for o in self.operators if o.percentage > BOTTLENECK)

    @property
    def recommendations(self) -> list[str]:
        """A sentence for each bottleneck; one that says so where there is none."""
        if not self.operators:
            return ["no operator ran on an npu"]
        return [
            f"{o.name}: {o.percentage:.1f} % of the time; {_advice(o)}" for o in self.bottlenecks
        ] or [f"no operator takes more than {BOTTLENECK:.0f} % of the time"]

    def as_dict(self) -> dict[str, Any]:
        """The report for ``json.dump``.

        The keys are ``total_operations``, ``total_time_ms``, ``operation_breakdown`` (name to ``count``,
        ``total_time_ms``, ``average_time_ms``, ``percentage``, ``kernels``), ``bottlenecks`` (each with ``operation``,
        ``percentage``, ``suggestion``) and ``recommendations``.
        """
        rows = [asdict(operator) for operator in self.operators]
        return {
            "total_operations": self.total_operations,
            "total_time_ms": self.total_time_ms,
            "operation_breakdown": {row.pop("name"): row for row in rows},
            "bottlenecks": [
                {"operation": o.name, "percentage": o.percentage, "suggestion": _advice(o)}
                for o in self.bottlenecks
            ],
            "recommendations": self.recommendations,
        }

    def export_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Writes the timeline for chrome://tracing or ui.perfetto.dev, as ``torch.profiler`` does."""
        self._recording.export_chrome_trace(fspath(path))

    def __str__(self) -> str:
        """A line for each operator, a total, the recommendations."""
        width = max((len(operator.name) for operator in self.operators), default=0)
        width = max(width, len("operator"))
        lines = [
            f"{'operator':{width}}  {'calls':>7} {'total ms':>10} {'average':>10} {'share':>7}"
        ]
        lines += [
            f"{o.name:{width}}  {o.count:7} {o.total_time_ms:10.3f} {o.average_time_ms:10.3f} {o.percentage:6.1f}%"
            for o in self.operators
        ]
        lines.append(f"{'total':{width}}  {self.total_operations:7} {self.total_time_ms:10.3f}")
        return "\n".join([*lines, *self.recommendations])


def _advice(operator: OperatorTime) -> str:
    for prefix, text in _ADVICE:
        if any(kernel.startswith(prefix) for kernel in operator.kernels):
            return text
    return "look at it first"


def _report_of(recording: _Profile) -> Report:
    times: dict[str, list[float]] = {}  # milliseconds of each call
    kernels: dict[str, dict[str, None]] = {}
    for event in recording.events() or ():
        if event.device_type != DeviceType.CPU or not event.kernels:
            continue
        duration = sum(kernel.duration for kernel in event.kernels)
        times.setdefault(event.name, []).append(duration / 1000)
        kernels.setdefault(event.name, {}).update(dict.fromkeys(k.name for k in event.kernels))
    everything = sum(map(sum, times.values()))
    operators = (
        OperatorTime(
            name,
            len(calls),
            sum(calls),
            sum(calls) / len(calls),
            100 * sum(calls) / everything if everything > 0 else 0.0,
            tuple(kernels[name]),
        )
        for name, calls in times.items()
    )
    return Report(tuple(sorted(operators, key=lambda o: -o.total_time_ms)), recording)


_lock = threading.Lock()  # guards both below
_recording: _Profile | None = None
_report: Report | None = None


def start() -> None:
    """Starts to measure the operators of all threads on all npus; without effect while it is measuring.

    Raises:
        RuntimeError: another profiler of PyTorch is recording.
    """
    global _recording
    with _lock:
        if _recording is not None:
            return
        state.native().init()
        if _autograd_profiler._is_profiler_enabled:
            raise RuntimeError(
                "torch.npu.profiler.start: torch.profiler is recording, and there can be one recording at a time; "
                "stop it first, or read the times of the device from it"
            )
        every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        recording = _Profile(
            activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1],
            experimental_config=every_thread,
        )
        recording.start()
        _recording = recording
        atexit.register(_abandon)  # PyTorch's profiler must not outlive the interpreter


def stop() -> Report | None:
    """Ends the measurement after the queued work; any thread may call it.

    Returns:
        The report, which :func:`report` also has; None, without effect, if nothing was being measured.

    Raises:
        RuntimeError: another profiler of PyTorch was started meanwhile, which has replaced this recording.
    """
    global _recording, _report
    with _lock:
        if _recording is None:
            return None
        recording, _recording = _recording, None
        atexit.unregister(_abandon)
        is_ours = _autograd_profiler._is_profiler_enabled
        recording.stop()
        if not is_ours:
            raise RuntimeError(
                "torch.npu.profiler.stop: torch.profiler was started after torch.npu.profiler.start and has ended its "
                "recording; use one of them at a time"
            )
        _report = _report_of(recording)
        return _report


def _abandon() -> None:
    """Ends a recording that the program did not end."""
    if _recording is not None:
        _recording.stop()


def report() -> Report:
    """The report of the last measurement.

    Raises:
        RuntimeError: none has ended.
    """
    with _lock:
        if _report is None:
            raise RuntimeError(
                "torch.npu.profiler.report: nothing was measured; call start(), run the model, call stop()"
            )
        return _report


@contextmanager
def profile() -> Iterator[None]:
    """Measures the operators of a ``with`` block, also of one that raises.

    Example:
        >>> with torch.npu.profiler.profile():
        ...     y = model(x)
        >>> print(torch.npu.profiler.report())
    """
    start()
    try:
        yield
    finally:
        stop()
