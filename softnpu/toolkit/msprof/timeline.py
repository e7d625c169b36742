"""The timeline ``msprof_*.json``: a list of events as Chrome's and Perfetto's viewers read them.

Facts: real files of Ascend's msprof and the readers in Ascend/pytorch (BSD-3-Clause), torch_npu/profiler/analysis.
"""

from __future__ import annotations

import intervals
from communication import collectives_of
from kernels import COMMUNICATION, Kernel, kernel_of
from records import EVENT_RECORD, EVENT_WAIT, NODE, Profile, Task

_NO_MODEL = 4294967295
# The layers, which are processes of the viewer: number, name, where it runs, its place in the list.
_CANN, _HARDWARE, _OVERLAP, _COMMUNICATION, _MARKS = 1, 2, 3, 4, 5


def us(ns: int) -> str:
    """Microseconds with three decimals, as the files have times of day."""
    return f"{ns // 1000}.{ns % 1000:03d}"


class Timeline:
    """The events of one profile."""

    def __init__(self, profile: Profile) -> None:
        """Makes all of them."""
        self.profile = profile
        self.events: list[dict] = []
        self._host()
        for device in profile.devices:
            self._device(device)
        self._marks()

    def _pid(self, layer: int, device: int = 0) -> int:
        # Above all process ids of Linux (2^22), so that it is none of the program's own processes.
        return self.profile.pid << 10 | layer << 5 | device | 1 << 33

    def _meta(self, name: str, pid: int, tid: int, /, **args: object) -> None:
        self.events.append({"name": name, "pid": pid, "tid": tid, "ph": "M", "args": args})

    def _process(self, layer: int, device: int, name: str, label: str, location: int) -> int:
        pid = self._pid(layer, device)
        self._meta("process_name", pid, 0, name=name)
        self._meta("process_labels", pid, 0, labels=label)
        self._meta("process_sort_index", pid, 0, sort_index=location)
        return pid

    def _thread(self, pid: int, tid: int, name: str) -> None:
        self._meta("thread_name", pid, tid, name=name)
        self._meta("thread_sort_index", pid, tid, sort_index=tid)

    def _slice(
        self, name: str, pid: int, tid: int, begin: int, end: int, /, **args: object
    ) -> None:
        self.events.append(
            {
                "name": name,
                "pid": pid,
                "tid": tid,
                "ts": us(begin),
                "dur": (end - begin) / 1000,
                "ph": "X",
                "args": args,
            }
        )

    def _host(self) -> None:
        pid = self._process(_CANN, 0, "CANN", "CPU", 2)
        threads = sorted(
            {call.thread for call in self.profile.calls}
            | {task.thread for task in self.profile.tasks if task.kind != NODE}
        )
        for tid in threads:
            self._thread(pid, tid, f"Thread {tid}")
        for call in self.profile.calls:
            self._slice(
                f"AscendCL@{call.name}",
                pid,
                call.thread,
                call.begin,
                call.end,
                **{
                    "Thread Id": call.thread,
                    "Mode": "ACL_OP" if call.name.startswith("aclnn") else "ACL_RTS",
                    "level": "acl",
                    "id": call.name,
                    "item_id": "0",
                    "connection_id": call.task,
                },
            )
        for task in self.profile.tasks:
            kernel = kernel_of(task)
            if task.kind != NODE and (kernel.is_compute or kernel.core == COMMUNICATION):
                self._slice(
                    "Node@launch",
                    pid,
                    task.thread,
                    task.launch_begin,
                    task.launch_end,
                    **{
                        "Thread Id": task.thread,
                        "Mode": "launch",
                        "level": "node",
                        "id": "0",
                        "item_id": kernel.name,
                        "connection_id": task.id,
                    },
                )

    def _flow(self, task: Task, pid: int, tid: int) -> None:
        id_ = str(task.id << 32)
        common = {"name": f"HostToDevice{id_}", "cat": "HostToDevice", "id": id_, "args": {}}
        self.events.append(
            {
                **common,
                "ph": "s",
                "pid": self._pid(_CANN),
                "tid": task.thread,
                "ts": us(task.launch_begin),
            }
        )
        self.events.append(
            {**common, "ph": "f", "bp": "e", "pid": pid, "tid": tid, "ts": us(task.begin)}
        )

    def _device(self, device: int) -> None:
        label = f"NPU {device}"
        shown: list[tuple[Task, Kernel]] = [
            (task, kernel_of(task))
            for task in self.profile.tasks
            if task.device == device and task.has_run()
        ]
        if not shown:
            return
        pid = self._process(_HARDWARE, device, "Ascend Hardware", label, 13)
        for stream in sorted({task.stream for task, _ in shown}):
            self._thread(pid, stream, f"Stream {stream}")
        for task, kernel in shown:
            args: dict[str, object] = {
                "Model Id": _NO_MODEL,
                "Task Type": kernel.core,
                "Stream Id": task.stream,
                "Task Id": task.number,
                "Batch Id": 0,
                "Subtask Id": task.position if task.leader else _NO_MODEL,
                "connection_id": task.number if task.kind == NODE else task.id,
            }
            if task.leader:
                args["Fusion Group"] = task.leader
            if task.failed:
                args["Failed"] = True
            self._slice(kernel.name, pid, task.stream, task.begin, task.end, **args)
            if task.kind not in (NODE, EVENT_RECORD, EVENT_WAIT):
                self._flow(task, pid, task.stream)
        self._communication(device, label, shown)
        self._overlap(device, label, shown)

    def _communication(self, device: int, label: str, shown: list[tuple[Task, Kernel]]) -> None:
        if not any(kernel.core == COMMUNICATION for _, kernel in shown):
            return
        pid = self._process(_COMMUNICATION, device, "Communication", label, 14)
        known = [c for c in collectives_of(self.profile) if c.task.device == device]
        groups = sorted({collective.group for collective in known})
        for tid, group in enumerate(groups):
            self._thread(pid, tid, f"Group {group} Communication")
        for collective in known:
            task, tid = collective.task, groups.index(collective.group)
            self._slice(
                collective.name,
                pid,
                tid,
                task.begin,
                task.end,
                **{
                    "connection_id": task.id,
                    "data_type": collective.data_type,
                    "count": collective.count,
                    "waited(us)": collective.waited / 1000,
                },
            )

    def _overlap(self, device: int, label: str, shown: list[tuple[Task, Kernel]]) -> None:
        computing = intervals.union((t.begin, t.end) for t, k in shown if k.is_compute)
        communication = intervals.union(
            (t.begin, t.end) for t, k in shown if k.core == COMMUNICATION
        )
        rows = {
            "Computing": computing,
            "Communication": communication,
            "Communication(Not Overlapped)": intervals.difference(communication, computing),
            "Free": intervals.gaps(intervals.union(computing + communication)),
        }
        if not computing and not communication:
            return
        pid = self._process(_OVERLAP, device, "Overlap Analysis", label, 15)
        for tid, (name, parts) in enumerate(rows.items()):
            self._thread(pid, tid, name)
            for begin, end in parts:
                self._slice(name, pid, tid, begin, end)

    def _marks(self) -> None:
        if not self.profile.marks:
            return
        pid = self._process(_MARKS, 0, "MsTx", "CPU", 3)
        for tid in sorted({mark.thread for mark in self.profile.marks}):
            self._thread(pid, tid, f"Thread {tid}")
        for mark in self.profile.marks:
            self._slice(
                mark.message,
                pid,
                mark.thread,
                mark.begin,
                mark.end,
                domain=mark.domain,
                event_type="marker" if mark.begin == mark.end else "start/end",
            )
