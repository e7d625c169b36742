"""The device's timeline, as msprof exports it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PARTS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
# What Level0 leaves out of the trace.
_HOST = ("AscendCL@", "Node@")


def ns_of(us: str) -> int:
    """Nanoseconds of a text in microseconds."""
    whole, _, part = us.strip().partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def us_of(ns: int) -> str:
    """Microseconds with three decimals."""
    return f"{ns // 1000}.{ns % 1000:03d}"


@dataclass(frozen=True)
class Kernel:
    """Something that ran on the device. Times are nanoseconds of the wall clock."""

    name: str
    core: str
    pid: int
    tid: int  # its stream
    begin: int
    end: int
    launched: int
    thread: int  # that launched it
    task: int  # its number among CANN's connections


@dataclass(frozen=True)
class Part:
    """A stretch of a device's time."""

    kind: str  # of _PARTS
    device: int
    begin: int
    end: int


class Timeline:
    """The events of one profile; empty without one."""

    def __init__(self, exported: Path | None) -> None:
        """Reads ``msprof_*.json`` of a folder PROF_*."""
        self.events: list[dict[str, Any]] = []
        if exported is not None:
            for path in sorted((exported / "mindstudio_profiler_output").glob("msprof_*.json")):
                self.events += json.loads(path.read_text())
        self._devices = {
            event["pid"]: int(event["args"]["labels"].split()[1])
            for event in self.events
            if event["name"] == "process_labels" and event["args"]["labels"].startswith("NPU ")
        }
        self.kernels = self._kernels()
        slices = [event for event in self.events if event["ph"] == "X"]
        self.overlap = [
            Part(
                event["name"],
                self._devices[event["pid"]],
                ns_of(event["ts"]),
                ns_of(event["ts"]) + round(event["dur"] * 1000),
            )
            for event in slices
            if event["name"] in _PARTS and event["pid"] in self._devices
        ]
        self.communication = {
            event["name"]: ns_of(event["ts"])
            for event in slices
            if event["name"].startswith("hcom_")
        }

    def _kernels(self) -> list[Kernel]:
        flows: dict[str, dict[str, dict[str, Any]]] = {}
        for event in self.events:
            if event.get("cat") == "HostToDevice":
                flows.setdefault(event["id"], {})[event["ph"]] = event
        starts = {
            (flow["f"]["pid"], flow["f"]["tid"], flow["f"]["ts"]): flow["s"]
            for flow in flows.values()
            if len(flow) == 2
        }
        kernels = []
        for event in self.events:
            start = starts.get((event["pid"], event["tid"], event.get("ts")))
            if event["ph"] != "X" or start is None or "Task Type" not in event["args"]:
                continue
            begin = ns_of(event["ts"])
            kernels.append(
                Kernel(
                    event["name"],
                    event["args"]["Task Type"],
                    event["pid"],
                    event["tid"],
                    begin,
                    begin + round(event["dur"] * 1000),
                    ns_of(start["ts"]),
                    start["tid"],
                    event["args"]["connection_id"],
                )
            )
        return kernels

    def events_of_level(self, level: str) -> list[dict[str, Any]]:
        """The events that the trace of ``level`` shows."""
        if level != "Level0":
            return list(self.events)
        return [event for event in self.events if not event["name"].startswith(_HOST)]
