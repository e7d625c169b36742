"""Reads what a profiler wrote: the works of the device, the waits and copies of the host, with the program's lines."""

import csv
import json
import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from torch_npu.profiler import device, lines
from torch_npu.profiler.timeline import ns_of
from torch_npu.profiler.tree import OUTPUT

_MB = 1 << 20
_LIBRARIES = os.sep + "site-packages" + os.sep
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_NOT_WORK = ("EVENT_RECORD", "EVENT_WAIT", "WRITE_VALUE", "WAIT_VALUE")


class ReportError(ValueError):
    """A folder that is no recording, or a damaged one; the text names it and says what to do."""


def location_of(stack: tuple[str, ...]) -> str:
    """The innermost line of the program itself, not of an installed package; empty if there is none."""
    own = (line for line in stack if _LIBRARIES not in line)
    return next(own, stack[0] if stack else "")


@dataclass(frozen=True)
class Work:
    """Something that ran on the device. Times are nanoseconds of the wall clock."""

    name: str
    kind: str  # the type of the operator
    core: str  # AI_CORE, AI_VECTOR_CORE, MIX_AIC, AI_CPU, COMMUNICATION, MEMCPY_ASYNC
    stream: str
    begin: int
    end: int
    launched: int
    operator: str  # of PyTorch; empty if none launched it
    cores: int
    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    input_types: tuple[str, ...]
    output_types: tuple[str, ...]
    group: int  # the task that began its fusion group; 0: none
    stack: tuple[str, ...]

    @property
    def duration(self) -> int:
        """In nanoseconds."""
        return self.end - self.begin

    @property
    def location(self) -> str:
        """The program's line that launched it."""
        return location_of(self.stack)


@dataclass(frozen=True)
class Wait:
    """The host waited for the device."""

    begin: int
    end: int
    thread: int
    stack: tuple[str, ...]

    @property
    def location(self) -> str:
        """The program's line that waited."""
        return location_of(self.stack)


@dataclass(frozen=True)
class Copy:
    """The host copied its memory to the device, or back; ``content`` is equal for the same bytes."""

    name: str
    begin: int
    end: int
    bytes: int
    content: int
    stack: tuple[str, ...]

    @property
    def location(self) -> str:
        """The program's line that copied."""
        return location_of(self.stack)


@dataclass(frozen=True)
class Sample:
    """Where a thread of the host was, and the processor time that it had used."""

    time: int
    thread: int
    stack: tuple[str, ...]
    used: int


@dataclass(frozen=True)
class HostRange:
    """An operator of PyTorch, or a range of the program, on the host."""

    name: str
    thread: int
    begin: int
    end: int


@dataclass(frozen=True)
class Block:
    """A block of device memory and the operator that allocated it. ``end`` is 0 if it was not freed."""

    owner: str
    bytes: int
    begin: int
    end: int


@dataclass
class Run:
    """One recording."""

    folder: Path
    begin: int = 0
    end: int = 0
    cpus: int = 1
    main_thread: int = 0
    has_lines: bool = False
    works: list[Work] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    ranges: list[HostRange] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)

    @property
    def duration(self) -> int:
        """Of the recording, in nanoseconds."""
        return max(self.end - self.begin, 1)

    @cached_property
    def busy(self) -> list[tuple[int, int]]:
        """When the device worked: intervals that do not overlap."""
        merged: list[tuple[int, int]] = []
        for work in self.works:  # in the order of their begin
            if merged and work.begin <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], work.end))
            else:
                merged.append((work.begin, work.end))
        return merged

    @cached_property
    def gaps(self) -> list[tuple[int, int]]:
        """When it did not, within the recording."""
        edges = [self.begin, *(edge for part in self.busy for edge in part), self.end]
        return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]

    @property
    def busy_ns(self) -> int:
        """How long the device worked."""
        return sum(end - begin for begin, end in self.busy)

    def samples_of_main(self, begin: int, end: int) -> Iterator[tuple[Sample, int]]:
        """The samples of the main thread in an interval, each with the time until the next one."""
        mine = [sample for sample in self.samples if sample.thread == self.main_thread]
        for sample, after in pairwise(mine):
            if begin <= sample.time < end:
                yield sample, min(after.time, end) - sample.time


def _sizes(text: str) -> tuple[tuple[int, ...], ...]:
    parts = text.strip('"').split(";") if text not in ("", "N/A") else []
    return tuple(tuple(int(n) for n in part.split(",") if n.strip().isdigit()) for part in parts)


def _types(text: str) -> tuple[str, ...]:
    return tuple(text.split(";")) if text not in ("", "N/A") else ()


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _json(path: Path) -> Any:  # noqa: ANN401 - what JSON holds
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise ReportError(f"{path}: is damaged ({error}); record the run again") from None


@dataclass
class _Slices:
    """The content of :data:`lines.FILE`."""

    content: dict[str, Any]

    def __post_init__(self) -> None:
        self.shift = int(self.content["clock_shift"])
        self.stacks = [
            tuple(
                line
                for line in stack.split("|")
                if line and not (line.startswith(_STDLIB) and _LIBRARIES not in line)
            )
            for stack in self.content["stacks"]
        ]
        self.by_task = {
            int(task): self.stacks[stack]
            for _, task, _, _, _, stack, _, _ in self.content["launches"]
            if task
        }

    def fill(self, run: Run) -> None:
        shift = self.shift
        run.has_lines = True
        run.cpus = int(self.content["cpus"])
        run.main_thread = int(self.content["main_thread"])
        run.begin, run.end = self.content["begin"] + shift, self.content["end"] + shift
        run.waits = [
            Wait(begin + shift, end + shift, thread, self.stacks[stack])
            for begin, end, thread, stack in self.content["waits"]
        ]
        run.copies = [
            Copy(name, begin + shift, end + shift, size, content, self.stacks[stack])
            for name, _, begin, end, _, stack, size, content in self.content["launches"]
            if name.startswith("Memcpy")
        ]
        run.samples = [
            Sample(moment + shift, thread, self.stacks[stack], used)
            for moment, thread, stack, used in self.content["samples"]
        ]


def _read_lines(folder: Path) -> _Slices | None:
    path = folder / lines.FILE
    if not path.exists():
        return None
    try:
        return _Slices(_json(path))
    except (KeyError, TypeError, ValueError, IndexError):
        raise ReportError(f"{path}: is damaged; record the run again") from None


def _stack_of(text: str) -> tuple[str, ...]:
    """The lines of an operator's "Call stack", where functions have their first lines."""
    found = []
    for frame in text.split(";"):
        location, bracket, rest = frame.strip().partition("(")
        number, closed, _ = rest.partition(")")
        if bracket and closed and number.isdigit() and location.endswith(".py"):
            found.append(f"{location}:{number}")
    return tuple(
        line for line in found if not line.startswith(("torch/", "torch_npu/", "threading.py"))
    )


class _Trace:
    """The events of a timeline."""

    def __init__(self, events: list[dict[str, Any]], details: list[dict[str, str]]) -> None:
        self.events = events
        self.details = {
            (row["Stream ID"], ns_of(row["Start Time(us)"])): row
            for row in details
            if row.get("Stream ID") and row.get("Start Time(us)")
        }

    def works(self, known: _Slices | None) -> list[Work]:
        operators = {
            (e["pid"], e["tid"], e["ts"]): e for e in self.events if e.get("cat") == "cpu_op"
        }
        launches: dict[Any, int] = {}
        begun: dict[Any, dict[str, Any]] = {}
        owners: dict[tuple[Any, Any, str], dict[str, Any]] = {}
        for event in self.events:
            if event.get("cat") == "HostToDevice" and event["ph"] == "s":
                launches[int(event["id"]) >> 32] = ns_of(event["ts"])
            elif event.get("cat") == "async_npu" and event["ph"] == "s":
                begun[event["id"]] = event
        for event in self.events:
            if event.get("cat") == "async_npu" and event["ph"] == "f":
                start = begun.get(event["id"])
                owner = start and operators.get((start["pid"], start["tid"], start["ts"]))
                if owner:
                    owners[event["pid"], event["tid"], event["ts"]] = owner
        found = []
        for event in self.events:
            args = event.get("args", {})
            if event["ph"] != "X" or "Task Type" not in args or args["Task Type"] in _NOT_WORK:
                continue
            begin = ns_of(event["ts"])
            owner = owners.get((event["pid"], event["tid"], event["ts"])) or {}
            row = self.details.get((str(args["Stream Id"]), begin), {})
            task = int(args.get("connection_id", 0))
            stack = known.by_task.get(task, ()) if known else ()
            if not stack:
                stack = _stack_of(owner.get("args", {}).get("Call stack", ""))
            number = row.get("Block Num", "1")
            found.append(
                Work(
                    event["name"],
                    row.get("Type", event["name"].rpartition("_")[2]),
                    args["Task Type"],
                    str(args["Stream Id"]),
                    begin,
                    begin + round(event["dur"] * 1000),
                    launches.get(task, begin),
                    owner.get("name", ""),
                    int(number) if number.isdigit() else 1,
                    _sizes(row.get("Input Shapes", "")),
                    _sizes(row.get("Output Shapes", "")),
                    _types(row.get("Input Data Types", "")),
                    _types(row.get("Output Data Types", "")),
                    int(args.get("Fusion Group", 0)),
                    stack,
                )
            )
        return sorted(found, key=lambda work: work.begin)

    def ranges(self) -> list[HostRange]:
        return [
            HostRange(e["name"], e["tid"], begin := ns_of(e["ts"]), begin + round(e["dur"] * 1000))
            for e in self.events
            if e.get("cat") == "cpu_op"
        ]


def _blocks(output: Path) -> list[Block]:
    return [
        Block(
            row["Name"],
            round(float(row["Size(KB)"]) * 1024),
            ns_of(row["Allocation Time(us)"]),
            ns_of(row["Release Time(us)"]) if row["Release Time(us)"].strip() else 0,
        )
        for row in _rows(output / "operator_memory.csv")
    ]


def _folder_of(path: Path) -> Path:
    if not path.is_dir():
        raise ReportError(f"{path}: is no folder; torch_npu.profiler and msprof write one")
    if (path / OUTPUT).is_dir() or path.name.startswith("PROF_"):
        return path
    if path.name == OUTPUT:
        return path.parent
    found = [p for p in (*path.glob("*_ascend_pt"), *path.glob("PROF_*")) if p.is_dir()]
    if not found:
        raise ReportError(
            f"{path}: has no {OUTPUT}, *_ascend_pt or PROF_*: it is no recording of torch_npu.profiler or msprof; "
            "a run that was not analysed needs torch_npu.profiler.analyse first"
        )
    return max(found, key=lambda p: p.stat().st_mtime)


def read(path: Path) -> Run:
    """Reads a recording.

    Args:
        path: a folder ``*_ascend_pt`` of ``torch_npu.profiler``, a folder ``PROF_*`` of ``msprof``, or one that holds such
            folders, of which the newest is read.

    Raises:
        ReportError: there is no recording, or its files are damaged.
    """
    folder = _folder_of(path)
    output = folder / OUTPUT
    if folder.name.startswith("PROF_"):
        exported = folder / "mindstudio_profiler_output"
        if not exported.is_dir():
            device.export(folder.parent)
        files = sorted(exported.glob("msprof_*.json"))
        if not files:
            raise ReportError(f"{folder}: msprof wrote no timeline of it")
        events, details = [e for file in files for e in _json(file)], []
    else:
        if not (output / "trace_view.json").exists():
            raise ReportError(f"{output}: has no trace_view.json; run torch_npu.profiler.analyse")
        events = _json(output / "trace_view.json")
        details = _rows(output / "kernel_details.csv")
    known = _read_lines(folder)
    try:
        trace = _Trace(events, details)
        run = Run(folder, works=trace.works(known), ranges=trace.ranges(), blocks=_blocks(output))
    except (KeyError, TypeError, ValueError):
        raise ReportError(f"{folder}: its files are damaged; record the run again") from None
    if known is not None:
        known.fill(run)
    run.steps = [(r.begin, r.end) for r in run.ranges if r.name.startswith("ProfilerStep#")]
    times = [(work.begin, work.end) for work in run.works]
    times += [(r.begin, r.end) for r in run.ranges]
    if not times:
        raise ReportError(f"{folder}: nothing ran on the device while it was recorded")
    if known is None:
        run.begin = min(begin for begin, _ in times)
        run.end = max(end for _, end in times)
    run.end = max([run.end, *(work.end for work in run.works)])
    run.begin = min([run.begin, *(work.begin for work in run.works)])
    return run
