"""The database ``msprof_*.db``.

Facts: the tables and columns in Ascend/msprof's documents (Mulan PSL v2), and those that Ascend/pytorch (BSD-3-Clause)
reads in torch_npu/profiler/analysis.
"""

from __future__ import annotations

import hashlib
import socket
import sqlite3
from pathlib import Path

from communication import collectives_of
from kernels import AI_CORE, AI_CPU, COMMUNICATION, MIX, VECTOR, kernel_of, operands_of
from records import NODE, Profile

_SCHEMA = {
    "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
    "ENUM_API_TYPE": "id INTEGER PRIMARY KEY, name TEXT",
    "TASK": "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, "
    "globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER",
    "COMPUTE_TASK_INFO": "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER, "
    "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER, "
    "outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER, opState INTEGER, "
    "hf32Eligible INTEGER",
    "CANN_API": "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, "
    "name INTEGER",
    "COMMUNICATION_OP": "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
    "opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC, "
    "opType INTEGER, deviceId INTEGER",
    "MEMCPY_INFO": "globalTaskId INTEGER PRIMARY KEY, size NUMERIC, memcpyOperation INTEGER",
    "NPU_MEM": "type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER",
    "NPU_MODULE_MEM": "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId INTEGER",
    "MSTX_EVENTS": "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, "
    "message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER",
    "SESSION_TIME_INFO": "startTimeNs INTEGER, endTimeNs INTEGER",
    "NPU_INFO": "id INTEGER, name TEXT",
    "HOST_INFO": "hostUid TEXT, hostName TEXT",
    "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
    "META_DATA": "name TEXT, value TEXT",
}
_API_TYPES = (
    (20000, "acl"),
    (15000, "model"),
    (10000, "node"),
    (5500, "communication"),
    (5000, "runtime"),
)
_ACL, _NODE, _COMMUNICATION = 20000, 10000, 5500
_NONE = 4294967295
_TASK_TYPES = {
    AI_CORE: "KERNEL_AICORE",
    VECTOR: "KERNEL_AIVEC",
    MIX: "KERNEL_MIX_AIC",
    AI_CPU: "KERNEL_AICPU",
}
_APP_MODULE = 33  # any number: a software NPU has one component, the program
_MARKER, _RANGE = 0, 2


class _Database:
    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self.connection = sqlite3.connect(path)
        for table, columns in _SCHEMA.items():
            self.connection.execute(f"CREATE TABLE {table} ({columns})")
        self.texts: dict[str, int] = {}

    def text(self, value: str) -> int:
        return self.texts.setdefault(value, len(self.texts) + 1)

    def insert(self, table: str, rows: list[tuple]) -> None:
        if rows:
            places = ", ".join("?" * len(rows[0]))
            self.connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def close(self) -> None:
        self.insert("STRING_IDS", [(number, value) for value, number in self.texts.items()])
        self.connection.commit()
        self.connection.close()


def write(profile: Profile, path: Path) -> None:
    """Writes all that ``profile`` holds to a new database."""
    database = _Database(path)
    database.insert("ENUM_API_TYPE", list(_API_TYPES))
    _tasks(profile, database)
    _calls(profile, database)
    _memory(profile, database)
    _marks(profile, database)
    ends = [task.end for task in profile.tasks] + [call.end for call in profile.calls]
    database.insert("SESSION_TIME_INFO", [(profile.begin, max(ends, default=profile.begin))])
    database.insert("NPU_INFO", [(device, profile.soc) for device in profile.devices])
    host = socket.gethostname()
    database.insert("HOST_INFO", [(hashlib.sha256(host.encode()).hexdigest()[:16], host)])
    database.insert("RANK_DEVICE_MAP", [(-1, device) for device in profile.devices])
    database.insert("META_DATA", [("SCHEMA_VERSION", "1.1.0")])
    database.close()


def _tasks(profile: Profile, database: _Database) -> None:
    tasks, infos, collectives, copies = [], [], [], []
    known = {collective.task.id: collective for collective in collectives_of(profile)}
    for task in profile.tasks:
        if not task.has_run():
            continue
        kernel = kernel_of(task)
        type_ = database.text(_TASK_TYPES.get(kernel.core, kernel.core))
        connection = task.number if task.kind == NODE else task.id
        context = task.position if task.leader else _NONE
        tasks.append(
            (
                task.begin,
                task.end,
                task.device,
                connection,
                task.id,
                profile.pid,
                type_,
                context,
                task.stream,
                task.number,
                _NONE,
            )
        )
        operands = operands_of(task)
        if kernel.is_compute:
            shown = (
                operands.input_formats,
                operands.input_types,
                operands.input_shapes,
                operands.output_formats,
                operands.output_types,
                operands.output_shapes,
            )
            infos.append(
                (
                    database.text(kernel.name),
                    task.id,
                    int(operands.cores) if operands.cores.isdigit() else None,
                    0,
                    database.text(kernel.core),
                    database.text(kernel.type),
                    *tuple(database.text(value) for value in shown),
                    database.text("N/A"),
                    database.text("static"),
                    database.text("NO"),
                )
            )
        elif kernel.core == COMMUNICATION:
            collective = known[task.id]
            name, group = database.text(collective.name), database.text(collective.group)
            data_type = database.text(collective.data_type)
            collectives.append(
                (
                    name,
                    task.begin,
                    task.end,
                    connection,
                    group,
                    task.id,
                    0,
                    0,
                    data_type,
                    None,
                    collective.count,
                    database.text(kernel.type),
                    task.device,
                )
            )
        elif kernel.core == "MEMCPY_ASYNC":
            copies.append((task.id, task.bytes, None))
    database.insert("TASK", tasks)
    database.insert("COMPUTE_TASK_INFO", infos)
    database.insert("COMMUNICATION_OP", collectives)
    database.insert("MEMCPY_INFO", copies)


def _calls(profile: Profile, database: _Database) -> None:
    def thread(number: int) -> int:
        return profile.pid << 32 | number

    rows = [
        (call.begin, call.end, _ACL, thread(call.thread), call.task, database.text(call.name))
        for call in profile.calls
    ]
    for task in profile.tasks:
        kernel = kernel_of(task)
        if task.kind != NODE and (kernel.is_compute or kernel.core == COMMUNICATION):
            begin, end = task.launch_begin, task.launch_end
            rows.append((begin, end, _NODE, thread(task.thread), task.id, database.text("launch")))
            if kernel.core == COMMUNICATION:
                name = database.text(kernel.name)
                rows.append((begin, end, _COMMUNICATION, thread(task.thread), task.id, name))
    database.insert("CANN_API", rows)


def _memory(profile: Profile, database: _Database) -> None:
    app = database.text("app")
    database.insert(
        "NPU_MEM", [(app, 0, heap.bytes, heap.time, heap.device) for heap in profile.heaps]
    )
    database.insert(
        "NPU_MODULE_MEM",
        [(_APP_MODULE, heap.time, heap.bytes, heap.device) for heap in profile.heaps],
    )


def _marks(profile: Profile, database: _Database) -> None:
    rows = []
    for number, mark in enumerate(profile.marks, 1):
        thread = profile.pid << 32 | mark.thread
        type_ = _MARKER if mark.begin == mark.end else _RANGE
        message, domain = database.text(mark.message), database.text(mark.domain)
        rows.append(
            (mark.begin, mark.end, type_, number, _NONE, message, thread, thread, domain, _NONE)
        )
    database.insert("MSTX_EVENTS", rows)
