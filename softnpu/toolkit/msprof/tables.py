"""The tables ``*.csv`` of a profile. Each function returns the header and the rows, or None if there is nothing to say.

Facts: the columns of Ascend/msprof's documents (Mulan PSL v2). What a software NPU does not measure is left out, or N/A.
"""

from __future__ import annotations

from collections.abc import Callable

from kernels import AI_CORE, AI_CPU, COMMUNICATION, MIX, VECTOR, Kernel, kernel_of, operands_of
from records import EVENT_RECORD, EVENT_WAIT, Profile, Task
from timeline import us

ACL_API, TASK_TIME, METRICS, AICPU, RUNTIME_API = 0x1, 0x2, 0x4, 0x8, 0x100

Table = tuple[list[str], list[list]] | None


def _time(ns: int) -> str:
    return us(ns) + "\t"  # the tab keeps spreadsheets from rounding it


def _ran(profile: Profile) -> list[tuple[Task, Kernel]]:
    return [(task, kernel_of(task)) for task in profile.tasks if task.has_run()]


def _operators(profile: Profile) -> list[tuple[Task, Kernel]]:
    return [(t, k) for t, k in _ran(profile) if k.is_compute or k.core == COMMUNICATION]


def op_summary(profile: Profile) -> Table:
    """One row an operator on the device."""
    operators = _operators(profile)
    if not operators:
        return None
    header = [
        "Device_id",
        "Task ID",
        "Stream ID",
        "Op Name",
        "OP Type",
        "OP State",
        "Task Type",
        "Task Start Time(us)",
    ]
    header += ["Task Duration(us)", "Task Wait Time(us)", "Block Num", "Mix Block Num"]
    has_details = profile.has(TASK_TIME)
    if has_details:
        header += [
            "HF32 Eligible",
            "Input Shapes",
            "Input Data Types",
            "Input Formats",
            "Output Shapes",
        ]
        header += ["Output Data Types", "Output Formats", "Context ID"]
    has_metrics = has_details and profile.has(METRICS)
    if has_metrics:
        header += ["aicore_time(us)", "aiv_time(us)"]
    rows: list[list] = []
    last_end: dict[int, int] = {}
    for task, kernel in operators:
        duration = (task.end - task.begin) / 1000
        waited = max(0, task.begin - last_end.get(task.device, task.begin)) / 1000
        last_end[task.device] = max(task.end, last_end.get(task.device, 0))
        operands = operands_of(task)
        row: list = [
            task.device,
            task.number,
            task.stream,
            kernel.name,
            kernel.type,
            "static",
            kernel.core,
        ]
        row += [_time(task.begin), duration, waited, operands.cores, 0]
        if has_details:
            row += [
                "NO",
                f'"{operands.input_shapes}"',
                operands.input_types,
                operands.input_formats,
            ]
            row += [f'"{operands.output_shapes}"', operands.output_types, operands.output_formats]
            row.append(task.position if task.leader else "N/A")
        if has_metrics:
            row.append(duration if kernel.core in (AI_CORE, MIX) else 0)
            row.append(duration if kernel.core in (VECTOR, MIX) else 0)
        rows.append(row)
    return header, rows


def _statistics(values: list[float]) -> list[float]:
    total = sum(values)
    return [round(total, 3), min(values), round(total / len(values), 3), max(values)]


def op_statistic(profile: Profile) -> Table:
    """The time of each type of operator."""
    times: dict[tuple[int, str, str], list[float]] = {}
    for task, kernel in _operators(profile):
        if kernel.is_compute:
            key = (task.device, kernel.type, kernel.core)
            times.setdefault(key, []).append((task.end - task.begin) / 1000)
    if not times:
        return None
    everything = {
        device: sum(sum(values) for key, values in times.items() if key[0] == device)
        for device in {key[0] for key in times}
    }
    rows = []
    for (device, type_, core), values in sorted(times.items(), key=lambda item: -sum(item[1])):
        total, least, average, most = _statistics(values)
        share = round(100 * sum(values) / everything[device], 3) if everything[device] else 0
        rows.append([device, type_, core, len(values), total, least, average, most, share])
    names = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
    return names.split(","), rows


def api_statistic(profile: Profile) -> Table:
    """The time of each function that the host called."""
    times: dict[tuple[str, str], list[float]] = {}
    for call in profile.calls:
        times.setdefault(("acl", call.name), []).append((call.end - call.begin) / 1000)
    if profile.calls:
        for task, kernel in _operators(profile):
            if task.launch_end > task.launch_begin or kernel.is_compute:
                level = "node" if kernel.is_compute else "communication"
                duration = (task.launch_end - task.launch_begin) / 1000
                times.setdefault((level, "launch"), []).append(duration)
    if not times:
        return None
    rows = []
    for (level, name), values in sorted(
        times.items(), key=lambda item: (item[0][0], -sum(item[1]))
    ):
        total, least, average, most = _statistics(values)
        exact = sum(values) / len(values)
        variance = round(sum((value - exact) ** 2 for value in values) / len(values), 3)
        rows.append(["host", level, name, total, len(values), average, least, most, variance])
    names = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"
    return names.split(","), rows


def task_time(profile: Profile) -> Table:
    """Everything that ran on the device."""
    rows = [
        [
            task.device,
            kernel.name,
            kernel.core,
            task.stream,
            task.number,
            (task.end - task.begin) / 1000,
            _time(task.begin),
            _time(task.end),
        ]
        for task, kernel in _ran(profile)
        if profile.has(TASK_TIME) or task.kind not in (EVENT_RECORD, EVENT_WAIT)
    ]
    names = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"
    return (names.split(","), rows) if rows else None


def aicpu(profile: Profile) -> Table:
    """The operators that ran on the AI CPU."""
    if not profile.has(AICPU):
        return None
    rows = []
    for task, kernel in _ran(profile):
        if kernel.core == AI_CPU:
            ms = (task.end - task.begin) / 1e6
            rows.append(
                [
                    task.device,
                    _time(task.begin),
                    kernel.type,
                    ms,
                    0,
                    ms,
                    0,
                    ms,
                    task.stream,
                    task.number,
                ]
            )
    names = "Device_id,Timestamp(us),Node,Compute_time(ms),Memcpy_time(ms),Task_time(ms),Dispatch_time(ms)"
    return (f"{names},Total_time(ms),Stream ID,Task ID".split(","), rows) if rows else None


def communication_statistic(profile: Profile) -> Table:
    """The time of each kind of collective."""
    times: dict[tuple[int, str], list[float]] = {}
    for task, kernel in _operators(profile):
        if kernel.core == COMMUNICATION:
            times.setdefault((task.device, kernel.type), []).append((task.end - task.begin) / 1000)
    if not times:
        return None
    everything = sum(sum(values) for values in times.values())
    rows = []
    for (device, type_), values in sorted(times.items()):
        total, least, average, most = _statistics(values)
        share = round(100 * sum(values) / everything, 3) if everything else 0
        rows.append([device, type_, len(values), total, least, average, most, share])
    names = "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
    return names.split(","), rows


def npu_mem(profile: Profile) -> Table:
    """The program's memory on the device over time."""
    rows = [
        [heap.device, "APP", 0, heap.bytes / 1024, heap.bytes / 1024, _time(heap.time)]
        for heap in profile.heaps
    ]
    return (
        (["Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"], rows)
        if rows
        else None
    )


def npu_module_mem(profile: Profile) -> Table:
    """The same, by component: a software NPU has one, the program."""
    rows = [
        [heap.device, "APP", _time(heap.time), heap.bytes / 1024, f"NPU:{heap.device}"]
        for heap in profile.heaps
    ]
    names = "Device_id,Component,Timestamp(us),Total Reserved(KB),Device"
    return (names.split(","), rows) if rows else None


def msprof_tx(profile: Profile) -> Table:
    """The program's marks and ranges."""
    rows = [
        [
            profile.pid,
            mark.thread,
            mark.domain,
            "marker" if mark.begin == mark.end else "start/end",
            _time(mark.begin),
            _time(mark.end),
            mark.message,
        ]
        for mark in profile.marks
    ]
    return (
        (
            ["pid", "tid", "category", "event_type", "start_time(us)", "end_time(us)", "message"],
            rows,
        )
        if rows
        else None
    )


TABLES: dict[str, Callable[[Profile], Table]] = {
    "op_summary": op_summary,
    "op_statistic": op_statistic,
    "api_statistic": api_statistic,
    "task_time": task_time,
    "aicpu": aicpu,
    "communication_statistic": communication_statistic,
    "npu_mem": npu_mem,
    "npu_module_mem": npu_module_mem,
    "msprof_tx": msprof_tx,
}
