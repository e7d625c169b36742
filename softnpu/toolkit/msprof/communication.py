"""The analysis of collectives: ``analyze/communication*.json``, ``analyze/communication_analyzer.db``.

All ranks are processes of one host that read each other's memory: the transport is called HCCS, as between NPUs of one
server, and its bytes count under SDMA too, as real tools show them. Facts: the readers in Ascend/pytorch
(BSD-3-Clause), torch_npu/profiler/analysis, and msprof-analyze (Apache-2.0).
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernels import COMMUNICATION, kernel_of
from records import Profile, Task

_TRANSPORTS = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")
_LARGE_BYTES = 1 << 25  # from this size on a transfer counts as a large packet


@dataclass(frozen=True)
class Collective:
    """A collective of this rank. Times are nanoseconds."""

    name: str  # "hcom_allReduce__123_0_1"
    type: str
    group: str
    rank: int
    size: int
    data_type: str
    count: int
    bytes: int
    other: int  # the rank that it sends to or receives from; -1: all
    begin: int
    end: int
    waited: int  # until all ranks had called it
    task: Task

    @property
    def transit(self) -> int:
        """How long it moved data."""
        return self.end - self.begin - self.waited


def collectives_of(profile: Profile) -> list[Collective]:
    """The collectives of ``profile``, in their order; those that had not ended are left out."""
    found = []
    counts: dict[tuple[str, str], int] = {}
    for task in profile.tasks:
        kernel = kernel_of(task)
        if kernel.core != COMMUNICATION or not task.has_run():
            continue
        parts = task.detail.split("|")
        if len(parts) != 10 or parts[0] != "hccl":
            parts = ["hccl", "unknown", "0", "1", "N/A", "0", "0", "0", "-1", "0"]
        group, data_type, ready = parts[1], parts[4], int(parts[9])
        rank, size, count, bytes_, _, other = (int(parts[i]) for i in (2, 3, 5, 6, 7, 8))
        waited = (
            min(max(ready + profile.shift - task.begin, 0), task.end - task.begin) if ready else 0
        )
        number = counts.setdefault((group, kernel.type), 0)
        counts[group, kernel.type] += 1
        name = f"{kernel.type}_{zlib.crc32(group.encode()) % 1000:03d}_{number}_1"
        found.append(
            Collective(
                name, kernel.type, group, rank, size, data_type, count, bytes_, other,
                task.begin, task.end, waited, task,
            )
        )  # fmt: skip
    return found


def _links(collective: Collective) -> Iterator[tuple[int, int, float]]:
    """The pairs of ranks between which it moved data, and how many bytes to this rank."""
    if collective.other >= 0:
        pair = (collective.rank, collective.other)
        yield (*(pair if collective.type.startswith("hcom_send") else pair[::-1]), collective.bytes)
        return
    others = [rank for rank in range(collective.size) if rank != collective.rank]
    for other in others:
        yield other, collective.rank, collective.bytes / len(others)


def _mb(size: float) -> float:
    return size / (1 << 20)


def _bandwidth(size: float, ns: int) -> float:
    return round(size / ns, 4) if ns else 0.0  # bytes a nanosecond are GB/s


def _entry(collective: Collective) -> dict:
    elapsed = collective.end - collective.begin
    transit, waited = collective.transit, collective.waited
    time_info = {
        "Start Timestamp(us)": collective.begin / 1000,
        "Elapse Time(ms)": elapsed / 1e6,
        "Transit Time(ms)": transit / 1e6,
        "Wait Time(ms)": waited / 1e6,
        "Synchronization Time(ms)": waited / 1e6,
        "Idle Time(ms)": 0.0,
        "Wait Time Ratio": round(waited / elapsed, 4) if elapsed else 0,
        "Synchronization Time Ratio": round(waited / elapsed, 4) if elapsed else 0,
    }
    bandwidth = {}
    for transport in _TRANSPORTS:
        is_used = transport in ("HCCS", "SDMA") and collective.size > 1
        size = collective.bytes if is_used else 0
        ms = transit / 1e6 if is_used else 0
        bandwidth[transport] = {
            "Transit Size(MB)": _mb(size),
            "Transit Time(ms)": ms,
            "Bandwidth(GB/s)": _bandwidth(size, transit) if is_used else 0,
            "Large Packet Ratio": 1 if size >= _LARGE_BYTES else 0,
            "Size Distribution": {str(_mb(size)): [1, ms]} if is_used else {},
        }
    return {"Communication Time Info": time_info, "Communication Bandwidth Info": bandwidth}


def _matrix(collective: Collective) -> dict:
    return {
        f"{source}-{target}": {
            "Transport Type": "HCCS",
            "Transit Size(MB)": _mb(size),
            "Transit Time(ms)": collective.transit / 1e6,
            "Bandwidth(GB/s)": _bandwidth(size, collective.transit),
        }
        for source, target, size in _links(collective)
    }


def write_text(profile: Profile) -> list[Path]:
    """Writes both files anew; none if there was no collective."""
    collectives = collectives_of(profile)
    if not collectives:
        return []
    folder = profile.folder / "analyze"
    folder.mkdir(exist_ok=True)
    files = {
        "communication.json": {f"{c.name}@{c.group}": _entry(c) for c in collectives},
        "communication_matrix.json": {f"{c.name}@{c.group}": _matrix(c) for c in collectives},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return [folder / name for name in files]


_SCHEMA = {
    "CommAnalyzerTime": "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, "
    "transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC",
    "CommAnalyzerBandwidth": "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, "
    "transit_time NUMERIC, bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC, "
    "total_duration NUMERIC",
    "CommAnalyzerMatrix": "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT, "
    "transit_size NUMERIC, transit_time NUMERIC, bandwidth NUMERIC",
}


def _rows(collective: Collective) -> Iterator[tuple[str, tuple]]:
    key = (collective.name, collective.group)
    entry = _entry(collective)
    times = list(entry["Communication Time Info"].values())[:6]
    yield "CommAnalyzerTime", key + tuple(times)
    for transport, info in entry["Communication Bandwidth Info"].items():
        for size, (count, ms) in info["Size Distribution"].items():
            numbers = tuple(list(info.values())[:4])
            yield "CommAnalyzerBandwidth", (*key, transport, *numbers, float(size), count, ms)
    for link, info in _matrix(collective).items():
        source, target = link.split("-")
        yield "CommAnalyzerMatrix", (*key, source, target, *tuple(info.values()))


def write_database(profile: Profile) -> list[Path]:
    """Writes the database anew; none if there was no collective."""
    collectives = collectives_of(profile)
    if not collectives:
        return []
    folder = profile.folder / "analyze"
    folder.mkdir(exist_ok=True)
    path = folder / "communication_analyzer.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    for table, columns in _SCHEMA.items():
        connection.execute(f"CREATE TABLE {table} ({columns})")
    for collective in collectives:
        for table, row in _rows(collective):
            places = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({places})", row)
    connection.commit()
    connection.close()
    return [path]
