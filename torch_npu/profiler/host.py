"""The host's half of a run: PyTorch's trace, on the device's clock."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from torch_npu.profiler.timeline import Kernel, Timeline, us_of

_OPERATORS = ("cpu_op", "user_annotation")
_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_BREAK = ";\r\n"  # between tensors, as the official files have it


@dataclass
class Operator:
    """An operator, or a range of the program. Times are nanoseconds of the wall clock."""

    index: int
    name: str
    tid: int
    begin: int
    end: int
    external_id: int
    args: dict[str, Any]
    self_ns: int = 0
    parent: int = -1  # its index
    children: list[int] = field(default_factory=list)
    stack: str = ""

    @property
    def is_step(self) -> bool:
        """Whether it is a step of the schedule."""
        return self.name.startswith("ProfilerStep#")

    @property
    def shapes(self) -> str:
        """Such as "8,64;64,64", with a line break after each semicolon."""
        return _joined(self.args.get("Input Dims", []))


@dataclass(frozen=True)
class Memory:
    """An allocation, or a release, of device memory."""

    time: int
    device: int
    address: int
    bytes: int  # negative: released
    allocated: int
    reserved: int
    owner: str  # the innermost operator


def _joined(values: list[Any]) -> str:
    def text(value: object) -> str:
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    return _BREAK.join(map(text, values))


@dataclass
class Host:
    """The operators in the order of their begin, outer ones first."""

    pid: int
    operators: list[Operator]
    functions: list[dict[str, Any]]  # of Python
    flows: list[dict[str, Any]]  # from forward to backward
    memory: list[Memory]
    operator_by_task: dict[int, Operator]

    def operator_of(self, kernel: Kernel) -> Operator | None:
        """The operator that launched ``kernel``."""
        return self.operator_by_task.get(kernel.task)

    def with_children(self, operator: Operator) -> list[int]:
        """The indices of ``operator`` and of all inside it."""
        found, position = [operator.index], 0
        while position < len(found):
            found += self.operators[found[position]].children
            position += 1
        return found

    def events(self) -> list[dict[str, Any]]:
        """The events of the process "Python" in the trace."""
        events: list[dict[str, Any]] = []

        def describe(name: str, tid: int, /, **args: object) -> None:
            events.append({"ph": "M", "name": name, "pid": self.pid, "tid": tid, "args": args})

        describe("process_name", 0, name="Python")
        describe("process_labels", 0, labels="CPU")
        describe("process_sort_index", 0, sort_index=0)
        for tid in sorted({operator.tid for operator in self.operators}):
            describe("thread_name", tid, name=f"Thread {tid}")
            describe("thread_sort_index", tid, sort_index=tid)
        for operator in self.operators:
            args = {
                "Sequence number": operator.args.get("Sequence number", -1),
                "Fwd thread id": operator.args.get("Fwd thread id", 0),
            }
            if "Input Dims" in operator.args:
                args["Input Dims"] = operator.shapes
                args["Input type"] = _joined(operator.args.get("Input type", []))
            if operator.stack:
                args["Call stack"] = operator.stack
            events.append(
                {
                    "ph": "X",
                    "name": operator.name,
                    "pid": self.pid,
                    "tid": operator.tid,
                    "ts": us_of(operator.begin),
                    "dur": (operator.end - operator.begin) / 1000,
                    "cat": "cpu_op",
                    "args": args,
                }
            )
        return events + self.functions + self.flows


class _Reader:
    def __init__(self, trace: dict[str, Any], timeline: Timeline) -> None:
        self.base = int(trace.get("baseTimeNanoseconds", 0))
        self.events = [event for event in trace["traceEvents"] if "ts" in event]
        begins = {kernel.task: kernel.begin for kernel in timeline.kernels}
        self.work = [
            (int(event["args"]["task"]), event)
            for event in self.events
            if event.get("cat") in _DEVICE and str(event.get("args", {}).get("task", "")).isdigit()
        ]
        # The clocks of the two profilers differ by microseconds: tasks that both saw tell by how many.
        shifts = [begins[task] - self.raw(event) for task, event in self.work if task in begins]
        self.shift = round(median(shifts)) if shifts else 0

    def raw(self, event: dict[str, Any]) -> int:
        return self.base + round(event["ts"] * 1000)

    def time(self, event: dict[str, Any]) -> int:
        return self.raw(event) + self.shift

    def operators(self) -> list[Operator]:
        events = [e for e in self.events if e["ph"] == "X" and e.get("cat") in _OPERATORS]
        events.sort(key=lambda event: (event["ts"], -event["dur"]))
        return [
            Operator(
                index,
                event["name"],
                event["tid"],
                self.time(event),
                self.time(event) + round(event["dur"] * 1000),
                int(event.get("args", {}).get("External id", 0)),
                event.get("args", {}),
            )
            for index, event in enumerate(events)
        ]

    def nest(self, operators: list[Operator]) -> None:
        """Finds what is inside what, and the lines of Python around each operator."""
        functions = [
            (self.time(e), self.time(e) + round(e["dur"] * 1000), e["tid"], e["name"])
            for e in self.events
            if e.get("cat") == "python_function" and e["ph"] == "X"
        ]
        mixed: list[tuple[int, int, int, Operator | str]] = [
            (op.begin, op.end, op.tid, op) for op in operators
        ]
        mixed += functions
        mixed.sort(key=lambda item: (item[2], item[0], -item[1]))
        open_: list[tuple[int, Operator | str]] = []
        last_tid = None
        for begin, end, tid, item in mixed:
            if tid != last_tid:
                open_, last_tid = [], tid
            while open_ and open_[-1][0] <= begin:
                open_.pop()
            if isinstance(item, Operator):
                item.self_ns = item.end - item.begin
                outer = next((o for _, o in reversed(open_) if isinstance(o, Operator)), None)
                if outer is not None:
                    item.parent = outer.index
                    outer.children.append(item.index)
                    outer.self_ns -= item.end - item.begin
                item.stack = _BREAK.join(o for _, o in reversed(open_) if isinstance(o, str))
            open_.append((end, item))

    def memory(self, operators: list[Operator]) -> list[Memory]:
        found = []
        for event in self.events:
            args = event.get("args", {})
            if event.get("name") != "[memory]" or args.get("Device Type") != _NPU:
                continue
            time, tid = self.time(event), event["tid"]
            owners = [op for op in operators if op.tid == tid and op.begin <= time <= op.end]
            found.append(
                Memory(
                    time,
                    int(args["Device Id"]),
                    int(args["Addr"]),
                    int(args["Bytes"]),
                    int(args["Total Allocated"]),
                    int(args["Total Reserved"]),
                    owners[-1].name if owners else "",
                )
            )
        return sorted(found, key=lambda memory: memory.time)


_NPU = 20  # c10::DeviceType::PrivateUse1


def read_host(path: Path, timeline: Timeline) -> Host:
    """Reads PyTorch's trace.

    Raises:
        FileNotFoundError: the file is missing: the raw files of the run were deleted.
    """
    trace = json.loads(path.read_text())
    reader = _Reader(trace, timeline)
    operators = reader.operators()
    reader.nest(operators)
    by_id = {operator.external_id: operator for operator in operators if operator.external_id}
    by_task = {
        task: by_id[event["args"]["External id"]]
        for task, event in reader.work
        if event["args"].get("External id") in by_id
    }
    pids = [e["pid"] for e in reader.events if e.get("cat") in _OPERATORS]
    pid = int(pids[0]) if pids else 0
    functions = [
        {
            "ph": "X",
            "name": event["name"],
            "pid": pid,
            "tid": event["tid"],
            "ts": us_of(reader.time(event)),
            "dur": event["dur"],
            "cat": "python_function",
            "args": event.get("args", {}),
        }
        for event in reader.events
        if event.get("cat") == "python_function" and event["ph"] == "X"
    ]
    flows = [
        {
            "ph": event["ph"],
            "bp": "e",
            "name": "fwdbwd",
            "id": event["id"],
            "pid": pid,
            "tid": event["tid"],
            "ts": us_of(reader.time(event)),
            "cat": "fwdbwd",
        }
        for event in reader.events
        if event.get("cat") == "fwdbwd"
    ]
    return Host(pid, operators, functions, flows, reader.memory(operators), by_task)
