"""Reads a folder PROF_*: what softnpu/prof wrote while a program ran."""

from __future__ import annotations

import ast
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"SNPUREC1"
# The fields of softnpuTraceRecord (softnpu/include/softnpu/trace.h); the last two are numbers of texts.
RECORD = struct.Struct("<BBBBIiIIIQQqqQQQ")
LAUNCH, RUN, MEMBER, DROPPED, DETAIL, CALL, HEAP, MARK = range(1, 9)
WORK, EVENT_RECORD, EVENT_WAIT, STEPS, NODE = range(5)


class ProfileError(ValueError):
    """A folder that cannot be read; the text names the file and says what to do."""


@dataclass
class Task:
    """One task of a stream. Times are nanoseconds of the wall clock."""

    id: int
    name: str
    kind: int  # WORK to NODE
    device: int
    stream: int
    thread: int  # that launched it
    number: int  # in its stream; of a node: the id of the replay
    launch_begin: int
    launch_end: int
    bytes: int  # that it writes
    detail: str = ""  # as softnpuTraceDetail takes it
    begin: int = 0
    end: int = 0  # 0: it had not run when the recording ended
    failed: bool = False
    leader: int = 0  # the task that began its fusion group; itself there, 0 if it ran alone
    position: int = 0

    def has_run(self) -> bool:
        """Whether it ran to its end."""
        return self.end != 0


@dataclass(frozen=True)
class Call:
    """A call of the host."""

    name: str
    begin: int
    end: int
    thread: int
    task: int  # the id of the task that it launched, or 0


@dataclass(frozen=True)
class Heap:
    """How much memory of a device was in use."""

    device: int
    time: int
    bytes: int


@dataclass(frozen=True)
class Mark:
    """A mark, or a range, of the program."""

    domain: str
    message: str
    begin: int
    end: int
    thread: int


@dataclass
class Profile:
    """What one folder holds, sorted by time."""

    folder: Path
    pid: int
    devices: list[int]
    data: int  # bits ACL_PROF_*
    metrics: int
    soc: str
    begin: int  # of the recording
    shift: int  # from CLOCK_MONOTONIC_RAW to the wall clock
    tasks: list[Task] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    heaps: list[Heap] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def has(self, bits: int) -> bool:
        """Whether the program asked for one of these data."""
        return self.data & bits != 0


def _json(path: Path) -> dict:
    try:
        value = json.loads(path.read_text())
    except OSError as error:
        raise ProfileError(
            f"{path}: cannot be read ({error.strerror}): this is no folder of a profile that was started"
        ) from None
    except ValueError as error:
        raise ProfileError(f"{path}: is damaged ({error}); collect the profile again") from None
    if not isinstance(value, dict):
        raise ProfileError(f"{path}: is damaged: it holds no dictionary; collect the profile again")
    return value


def _clock(folder: Path) -> tuple[int, int]:
    """The beginning in nanoseconds of the wall clock, and that clock's distance from the monotonic one."""
    path = folder / "host" / "start_info"
    try:
        info = ast.literal_eval(path.read_text())
        begin = int(info["collectionTimeBegin"]) * 1000
        return begin, begin - int(info["clockMonotonicRaw"])
    except OSError as error:
        raise ProfileError(
            f"{path}: cannot be read ({error.strerror}): the profile was never started"
        ) from None
    except (ValueError, SyntaxError, KeyError, TypeError):
        raise ProfileError(f"{path}: is damaged; collect the profile again") from None


def _texts(path: Path) -> list[str]:
    data = path.read_bytes()
    texts = [""]
    position = 0
    while position + 4 <= len(data):
        (size,) = struct.unpack_from("<I", data, position)
        if position + 4 + size > len(data):
            break  # the program was killed while it wrote
        texts.append(data[position + 4 : position + 4 + size].decode(errors="replace"))
        position += 4 + size
    return texts


def _records(path: Path) -> Iterator[tuple]:
    data = path.read_bytes()
    if data[: len(MAGIC)] != MAGIC:
        raise ProfileError(
            f"{path}: holds no records of softnpu; was another toolkit's msprof used?"
        )
    whole = (len(data) - len(MAGIC)) // RECORD.size * RECORD.size  # without a record that was cut
    yield from RECORD.iter_unpack(data[len(MAGIC) : len(MAGIC) + whole])


def _share_groups(tasks: dict[int, Task]) -> None:
    """Divides the time of each fusion group among its tasks, by the bytes that they write."""
    groups: dict[int, list[Task]] = {}
    for task in tasks.values():
        if task.leader:
            groups.setdefault(task.leader, []).append(task)
    for leader, members in groups.items():
        first = tasks.get(leader)
        if first is None or not first.has_run():
            continue
        members.sort(key=lambda task: task.position)
        begin, duration = first.begin, first.end - first.begin
        weights = [max(task.bytes, 1) for task in members]
        total, done = sum(weights), 0
        for task, weight in zip(members, weights, strict=False):
            task.begin = begin + duration * done // total
            done += weight
            task.end = begin + duration * done // total
            task.failed = first.failed


def read(folder: Path) -> Profile:
    """Reads ``folder``.

    Raises:
        ProfileError: it is no folder of a profile, or damaged. One whose program was killed can be read.
    """
    if not folder.is_dir():
        raise ProfileError(f"{folder}: is no folder")
    sample = _json(folder / "host" / "sample.json")
    begin, shift = _clock(folder)
    try:
        profile = Profile(
            folder,
            int(sample["pid"]),
            [int(device) for device in sample["devices"]],
            int(sample["data"]),
            int(sample["metrics"]),
            str(sample["soc"]),
            begin,
            shift,
        )
    except (KeyError, TypeError, ValueError):
        raise ProfileError(
            f"{folder / 'host' / 'sample.json'}: is damaged; collect the profile again"
        ) from None
    data = folder / "host" / "data"
    try:
        texts = _texts(data / "softnpu.texts")
        records = list(_records(data / "softnpu.records"))
    except OSError as error:
        raise ProfileError(f"{error.filename}: cannot be read ({error.strerror})") from None
    _fill(profile, records, texts)
    return profile


def _fill(profile: Profile, records: list[tuple], texts: list[str]) -> None:
    shift = profile.shift

    def text(number: int) -> str:
        return texts[number] if number < len(texts) else "?"

    tasks: dict[int, Task] = {}
    # A thread's records may come before those of the thread that launched the task.
    for (
        kind,
        task,
        _,
        _,
        _,
        device,
        stream,
        thread,
        _,
        id_,
        other,
        begin,
        end,
        size,
        name,
        _,
    ) in records:
        if kind == LAUNCH:
            tasks[id_] = Task(
                id_,
                text(name),
                task,
                device,
                stream,
                thread,
                other,
                begin + shift,
                end + shift,
                size,
            )
    for (
        kind,
        _,
        failed,
        _,
        position,
        device,
        _,
        thread,
        _,
        id_,
        other,
        begin,
        end,
        size,
        name,
        detail,
    ) in records:
        known = tasks.get(id_)
        if kind == RUN and known is not None:
            known.begin, known.end, known.failed = begin + shift, end + shift, bool(failed)
            known.leader = id_ if other > 1 else 0
        elif kind == MEMBER and known is not None:
            known.leader, known.position = other, position
        elif kind == DETAIL and known is not None:
            known.detail = text(detail)
        elif kind == CALL:
            profile.calls.append(Call(text(name), begin + shift, end + shift, thread, id_))
        elif kind == HEAP:
            profile.heaps.append(Heap(device, begin + shift, size))
        elif kind == MARK:
            profile.marks.append(Mark(text(name), text(detail), begin + shift, end + shift, thread))
    _share_groups(tasks)
    known_devices = set(profile.devices)
    profile.tasks = sorted(
        (task for task in tasks.values() if task.device in known_devices),
        key=lambda task: (task.begin or task.launch_begin, task.id),
    )
    profile.calls.sort(key=lambda call: (call.begin, -call.end))
    profile.heaps = sorted(
        (heap for heap in profile.heaps if heap.device in known_devices), key=lambda heap: heap.time
    )
    profile.marks.sort(key=lambda mark: mark.begin)


def find(folder: Path) -> list[Path]:
    """The folders PROF_* that ``folder`` is or holds.

    Raises:
        ProfileError: there are none.
    """
    if folder.name.startswith("PROF_") or (folder / "host" / "start_info").exists():
        return [folder]
    found = sorted(path for path in folder.glob("PROF_*") if path.is_dir())
    if not found:
        raise ProfileError(f"{folder}: is no folder PROF_* and holds none")
    return found
