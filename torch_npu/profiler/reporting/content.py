"""One report: everything that its text, its JSON and its page show."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch_npu.profiler.reporting import advice, summary
from torch_npu.profiler.reporting.limits import Limits
from torch_npu.profiler.reporting.run import Run, read


@dataclass(frozen=True)
class Waits:
    """The waits of one line of the program."""

    location: str
    count: int
    total_ns: int


@dataclass(frozen=True)
class Copies:
    """The copies of one line between host and device."""

    location: str
    name: str
    count: int
    bytes: int
    total_ns: int


@dataclass(frozen=True)
class Report:
    """What was found in a recording. Times are nanoseconds."""

    folder: str
    duration_ns: int
    steps: int
    busy_ns: int
    cpus: int
    has_lines: bool
    recommendations: list[advice.Recommendation]
    operators: list[summary.OperatorRow]
    gaps: list[summary.Gap]
    waits: list[Waits]
    copies: list[Copies]
    fusion: list[summary.Group]
    roofline: list[summary.Point]
    limits: Limits | None
    memory: list[tuple[int, int]]
    owners: list[summary.Owner]

    def as_dict(self) -> dict[str, Any]:
        """What the JSON file holds."""
        return asdict(self)


def _waits(run: Run) -> list[Waits]:
    rows: dict[str, list[int]] = {}
    for wait in run.waits:
        rows.setdefault(wait.location or "outside of the program", []).append(wait.end - wait.begin)
    found = [Waits(location, len(times), sum(times)) for location, times in rows.items()]
    return sorted(found, key=lambda row: -row.total_ns)


def _copies(run: Run) -> list[Copies]:
    rows: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for copy in run.copies:
        key = copy.location or "outside of the program", copy.name
        rows.setdefault(key, []).append((copy.bytes, copy.end - copy.begin))
    found = [
        Copies(location, name, len(all_), sum(b for b, _ in all_), sum(ns for _, ns in all_))
        for (location, name), all_ in rows.items()
    ]
    return sorted(found, key=lambda row: -row.total_ns)


def report(path: str | Path, limits: Limits | None = None) -> Report:
    """Reads a recording and finds what it says.

    Args:
        path: as of :func:`torch_npu.profiler.reporting.run.read`.
        limits: of this machine, for the roofline; None leaves it out.

    Raises:
        ReportError: there is no recording, or it is damaged.
    """
    run = read(Path(path))
    memory, owners = summary.memory(run)
    return Report(
        str(run.folder),
        run.duration,
        len(run.steps),
        run.busy_ns,
        run.cpus,
        run.has_lines,
        advice.recommendations(run),
        summary.operators(run),
        summary.gaps(run),
        _waits(run),
        _copies(run),
        summary.fusion(run),
        summary.roofline(run, limits),
        limits,
        memory,
        owners,
    )
