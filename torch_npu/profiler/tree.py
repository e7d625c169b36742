"""Writes ``ASCEND_PROFILER_OUTPUT`` from a run's raw files.

Names of files and columns are the official plug-in's (BSD-3-Clause), whose readers expect them.
"""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

from torch_npu.profiler import device
from torch_npu.profiler.host import Host, Operator, read_host
from torch_npu.profiler.timeline import Kernel, Timeline, ns_of, us_of

OUTPUT = "ASCEND_PROFILER_OUTPUT"
_RENAMED = {
    "Op Name": "Name",
    "OP Type": "Type",
    "Task Type": "Accelerator Core",
    "Task Start Time(us)": "Start Time(us)",
    "Task Duration(us)": "Duration(us)",
    "Task Wait Time(us)": "Wait Time(us)",
}
_CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV")
_LEVEL0 = [
    "Device_id",
    "Name",
    "Type",
    "Accelerator Core",
    "Start Time(us)",
    "Duration(us)",
    "Wait Time(us)",
    "Block Num",
    "Mix Block Num",
]
_KB = 1024
_MB = 1 << 20


def _write_csv(path: Path, header: list[str], rows: list[list[Any]]) -> None:
    if not rows:
        return
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _read_csv(exported: Path | None, name: str) -> list[dict[str, str]]:
    if exported is None:
        return []
    rows: list[dict[str, str]] = []
    for path in sorted((exported / "mindstudio_profiler_output").glob(f"{name}_[0-9]*.csv")):
        with path.open() as file:
            rows += list(csv.DictReader(file))
    return rows


class _Tree:
    """One run."""

    def __init__(self, run: Path) -> None:
        self.output = run / OUTPUT
        self.output.mkdir(exist_ok=True)
        info = json.loads(next(run.glob("profiler_info*.json")).read_text())
        self.level = info["config"]["experimental_config"]["_profiler_level"]
        self.exported = device.export(run)
        self.timeline = Timeline(self.exported)
        self.host: Host = read_host(run / "FRAMEWORK" / "trace.json", self.timeline)
        self.steps = [
            (op.name.split("#")[-1], op.begin, op.end) for op in self.host.operators if op.is_step
        ]
        self.kernels_of: dict[int, list[Kernel]] = {}  # by the operator's index
        for kernel in self.timeline.kernels:
            operator = self.host.operator_of(kernel)
            if operator is not None:
                self.kernels_of.setdefault(operator.index, []).append(kernel)

    def step_of(self, kernel: Kernel) -> str:
        """The step in which the kernel was launched; empty if in none."""
        operator = self.host.operator_of(kernel)
        launched = kernel.launched if operator is None else operator.begin
        return next((name for name, begin, end in self.steps if begin <= launched <= end), "")

    def write_trace(self) -> None:
        events = self.host.events() + self.timeline.events_of_level(self.level)
        for index, kernels in self.kernels_of.items():
            operator = self.host.operators[index]
            for kernel in kernels:
                flow = {"bp": "e", "name": "torch_to_npu", "id": kernel.begin, "cat": "async_npu"}
                events.append(
                    {
                        "ph": "s",
                        "pid": self.host.pid,
                        "tid": operator.tid,
                        "ts": us_of(operator.begin),
                        **flow,
                    }
                )
                events.append(
                    {
                        "ph": "f",
                        "pid": kernel.pid,
                        "tid": kernel.tid,
                        "ts": us_of(kernel.begin),
                        **flow,
                    }
                )
        (self.output / "trace_view.json").write_text(json.dumps(events))

    def write_kernels(self) -> None:
        rows = _read_csv(self.exported, "op_summary")
        if not rows:
            return
        by_begin = {(kernel.tid, kernel.begin): kernel for kernel in self.timeline.kernels}
        columns = list(rows[0])
        if self.level == "Level0":
            columns = [column for column in columns if _RENAMED.get(column, column) in _LEVEL0]
        header = [_RENAMED.get(column, column) for column in columns]
        lines = []
        for row in rows:
            kernel = by_begin.get((int(row["Stream ID"]), ns_of(row["Task Start Time(us)"])))
            step = [self.step_of(kernel) if kernel is not None else ""] if self.steps else []
            lines.append(step + [row[column] for column in columns])
        _write_csv(
            self.output / "kernel_details.csv", ["Step Id"] * bool(self.steps) + header, lines
        )

    def write_operators(self) -> None:
        names = (
            "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
            "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)"
        )
        rows = []
        for operator in self.host.operators:
            if operator.is_step:
                continue
            own = self.kernels_of.get(operator.index, [])
            everything = [
                kernel
                for index in self.host.with_children(operator)
                for kernel in self.kernels_of.get(index, [])
            ]
            sums = [
                sum(k.end - k.begin for k in kernels if k.core in cores or not cores) / 1000
                for cores in ((), _CORES)
                for kernels in (own, everything)
            ]
            rows.append(
                [
                    operator.name,
                    operator.shapes,
                    operator.stack,
                    operator.self_ns / 1000,
                    (operator.end - operator.begin) / 1000,
                    *sums,
                ]
            )
        _write_csv(self.output / "operator_details.csv", names.split(","), rows)

    def write_steps(self) -> None:
        parts = self.timeline.overlap
        if not parts:
            return
        names = (
            "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
            "Communication(Not Overlapped and Exclude Receive),Preparing"
        )
        ranges = []
        for name, begin, end in self.steps:
            kernels = [k for k in self.timeline.kernels if self.step_of(k) == name]
            if kernels:
                first, last = min(k.begin for k in kernels), max(k.end for k in kernels)
                ranges.append((name, begin, first, max(last, end)))
        if not self.steps:
            begin = min(part.begin for part in parts)
            ranges = [("", begin, begin, max(part.end for part in parts) + 1)]
        rows = []
        for device_id in sorted({part.device for part in parts}):
            for name, host_begin, begin, end in ranges:
                inside = [p for p in parts if p.device == device_id and begin <= p.begin < end]
                if not inside:
                    continue
                times = {
                    kind: sum(p.end - p.begin for p in inside if p.kind == kind) / 1000
                    for kind in (
                        "Computing",
                        "Communication(Not Overlapped)",
                        "Communication",
                        "Free",
                    )
                }
                exposed = times["Communication(Not Overlapped)"]
                stage = (max(p.end for p in inside) - min(p.begin for p in inside)) / 1000
                row: list[Any] = [device_id, name, times["Computing"], exposed]
                row += [times["Communication"] - exposed, times["Communication"], times["Free"]]
                rows.append([*row, stage, 0, exposed, (begin - host_begin) / 1000])
        _write_csv(self.output / "step_trace_time.csv", names.split(","), rows)

    def write_memory(self) -> None:
        names = (
            "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
            "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
            "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
            "Release Total Active(MB),Stream Ptr,Device Type"
        )
        blocks, records = [], []
        live: dict[int, Any] = {}
        for event in self.host.memory:
            device_type = f"NPU:{event.device}"
            totals = [event.allocated / _MB, event.reserved / _MB, event.allocated / _MB]
            records.append(["PTA", us_of(event.time) + "\t", *totals, "", device_type])
            if event.bytes > 0:
                live[event.address] = event
                continue
            begin = live.pop(event.address, None)
            if begin is None:
                continue
            start = [begin.allocated / _MB, begin.reserved / _MB, begin.allocated / _MB]
            lasted = (event.time - begin.time) / 1000
            released = us_of(event.time) + "\t"
            blocks.append(
                [
                    begin.owner,
                    begin.bytes / _KB,
                    us_of(begin.time) + "\t",
                    released,
                    released,
                    lasted,
                    lasted,
                    *start,
                    *totals,
                    "",
                    device_type,
                ]
            )
        for begin in live.values():  # not freed
            start = [begin.allocated / _MB, begin.reserved / _MB, begin.allocated / _MB]
            blocks.append(
                [
                    begin.owner,
                    begin.bytes / _KB,
                    us_of(begin.time) + "\t",
                    "",
                    "",
                    "",
                    "",
                    *start,
                    "",
                    "",
                    "",
                    "",
                    f"NPU:{begin.device}",
                ]
            )
        for row in _read_csv(self.exported, "npu_mem"):
            reserved = float(row["memory(KB)"]) / _KB
            records.append(
                ["APP", row["timestamp(us)"], "", reserved, "", "", f"NPU:{row['Device_id']}"]
            )
        _write_csv(self.output / "operator_memory.csv", names.split(","), blocks)
        header = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type"
        _write_csv(self.output / "memory_record.csv", header.split(","), records)
        modules = [
            [
                row["Device_id"],
                row["Component"],
                row["Timestamp(us)"],
                float(row["Total Reserved(KB)"]) / _KB,
                row["Device"],
            ]
            for row in _read_csv(self.exported, "npu_module_mem")
        ]
        header = "Device_id,Component,Timestamp(us),Total Reserved(MB),Device"
        if self.level != "Level_none":
            _write_csv(self.output / "npu_module_mem.csv", header.split(","), modules)

    def copy_tables(self) -> None:
        names = [] if self.level == "Level_none" else ["task_time"]
        if self.level in ("Level1", "Level2"):
            names += ["op_statistic", "api_statistic"]
        for name in names:
            rows = _read_csv(self.exported, name)
            if rows:
                _write_csv(
                    self.output / f"{name}.csv", list(rows[0]), [list(r.values()) for r in rows]
                )

    def copy_communication(self) -> None:
        for name in ("communication.json", "communication_matrix.json"):
            path = None if self.exported is None else self.exported / "analyze" / name
            if path is None or not path.exists():
                continue
            content = json.loads(path.read_text())
            begins = {op: self.timeline.communication.get(op.split("@")[0], 0) for op in content}
            result = {}
            for step, begin, end in self.steps or [("", 0, 1 << 63)]:
                ops = {op: value for op, value in content.items() if begin <= begins[op] <= end}
                is_pair = {
                    op: op.startswith(("hcom_send", "hcom_recv", "hcom_batch")) for op in ops
                }
                result[f"step{step}"] = {
                    "p2p": {op: ops[op] for op in ops if is_pair[op]},
                    "collective": {op: ops[op] for op in ops if not is_pair[op]},
                }
            (self.output / name).write_text(json.dumps(result))


def write(run: Path) -> None:
    """Writes the tree of ``run`` anew.

    Raises:
        ProfilerError: msprof fails.
        FileNotFoundError: the run's raw files are missing.
    """
    shutil.rmtree(run / OUTPUT, ignore_errors=True)
    tree = _Tree(run)
    tree.write_trace()
    tree.write_operators()
    tree.write_memory()
    if tree.level != "Level_none":
        tree.write_kernels()
        tree.write_steps()
    tree.copy_tables()
    tree.copy_communication()


__all__ = ["OUTPUT", "Operator", "write"]
