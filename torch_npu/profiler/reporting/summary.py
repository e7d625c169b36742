"""The numbers of a report: shares of operators, gaps, copies, memory, fusion, the roofline's points."""

from collections import defaultdict
from dataclasses import dataclass
from math import prod

from torch_npu.profiler.reporting.limits import Limits
from torch_npu.profiler.reporting.run import Run, Work, location_of

_BYTES = {
    "FLOAT": 4, "FLOAT32": 4, "FLOAT16": 2, "BF16": 2, "DT_BF16": 2, "BFLOAT16": 2, "DOUBLE": 8, "INT64": 8,
    "INT32": 4, "INT16": 2, "INT8": 1, "UINT8": 1, "BOOL": 1, "COMPLEX64": 8, "COMPLEX128": 16,
}  # fmt: skip
_LISTED_GAPS = 10
IDLE = "(idle)"


@dataclass(frozen=True)
class OperatorRow:
    """All runs of one kernel; ``share`` is that of the device's working time."""

    name: str
    core: str
    operator: str
    runs: int
    total_ns: int
    share: float
    location: str


@dataclass(frozen=True)
class Gap:
    """The device was idle; ``host`` says what the main thread did, by lines of the program with shares."""

    begin_ns: int  # from the beginning of the recording
    duration_ns: int
    before: str
    after: str
    host: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Group:
    """A fusion group, and why it ended."""

    works: tuple[str, ...]
    runs: int
    total_ns: int
    ended: str


@dataclass(frozen=True)
class Point:
    """A kernel on the roofline."""

    name: str
    intensity: float  # floating-point operations per byte
    gflops: float
    share_of_limit: float
    bound: str  # memory, arithmetic


@dataclass(frozen=True)
class Owner:
    """Memory of an operator at the peak."""

    name: str
    bytes: int
    blocks: int


def operators(run: Run) -> list[OperatorRow]:
    """The kernels, the longest first; the shares' sum is 1."""
    groups: dict[tuple[str, str, str], list[Work]] = defaultdict(list)
    for work in run.works:
        groups[work.name, work.core, work.operator].append(work)
    total = sum(work.duration for work in run.works) or 1
    rows = []
    for (name, core, operator), works in groups.items():
        spent = sum(work.duration for work in works)
        by_position: dict[str, int] = defaultdict(int)
        for work in works:
            by_position[work.location] += work.duration
        location = max(by_position, key=by_position.__getitem__)
        rows.append(OperatorRow(name, core, operator, len(works), spent, spent / total, location))
    return sorted(rows, key=lambda row: -row.total_ns)


def gaps(run: Run) -> list[Gap]:
    """The longest times without work on the device."""
    found = []
    for begin, end in sorted(run.gaps, key=lambda gap: gap[0] - gap[1])[:_LISTED_GAPS]:
        spent: dict[str, int] = defaultdict(int)
        for sample, duration in run.samples_of_main(begin, end):
            spent[location_of(sample.stack) or "outside of the program"] += duration
        total = sum(spent.values()) or 1
        host = sorted(
            ((location, ns / total) for location, ns in spent.items()), key=lambda x: -x[1]
        )
        before = next((w.name for w in reversed(run.works) if w.end <= begin), "the beginning")
        after = next((w.name for w in run.works if w.begin >= end), "the end")
        found.append(Gap(begin - run.begin, end - begin, before, after, tuple(host[:3])))
    return found


def _why(last: Work, following: Work | None) -> str:
    if following is None:
        return "the recording ended"
    if following.launched >= last.end:
        return "the next work was launched after it had run"
    if following.stream != last.stream:
        return "the next work is of another stream"
    if following.core != "AI_VECTOR_CORE":
        return f"{following.name} is of the kind {following.core}"
    return f"{following.name} cannot be fused, or is smaller than a tile"


def fusion(run: Run) -> list[Group]:
    """The fusion groups, those that took longest first."""
    members: dict[int, list[int]] = defaultdict(list)
    for index, work in enumerate(run.works):
        if work.group:
            members[work.group].append(index)
    kinds: dict[tuple[tuple[str, ...], str], list[int]] = defaultdict(list)
    for indices in members.values():
        works = [run.works[i] for i in indices]
        following = run.works[indices[-1] + 1] if indices[-1] + 1 < len(run.works) else None
        key = tuple(work.kind for work in works), _why(works[-1], following)
        kinds[key].append(sum(work.duration for work in works))
    rows = [Group(names, len(ns), sum(ns), why) for (names, why), ns in kinds.items()]
    return sorted(rows, key=lambda row: -row.total_ns)


def _flops(work: Work) -> float:
    out = prod(work.output_shapes[0]) if work.output_shapes else 0
    if work.core == "AI_CORE" and len(work.input_shapes) >= 2 and out:
        if "Conv" in work.kind:
            weight = max(work.input_shapes[1:3], key=len)
            return 2.0 * out * prod(weight[1:])
        pair = [s for s in work.input_shapes if len(s) >= 2][-2:]
        return 2.0 * out * pair[0][-1] if pair else 0.0
    # A function of each element, or a sum of them.
    return float(max([out, *(prod(shape) for shape in work.input_shapes[:1])]))


def _moved(work: Work) -> int:
    shapes = [*work.input_shapes, *work.output_shapes]
    types = [*work.input_types, *work.output_types]
    return sum(prod(s) * _BYTES.get(t, 4) for s, t in zip(shapes, types, strict=False) if s)


def roofline(run: Run, limits: Limits | None) -> list[Point]:
    """The kernels whose shapes were recorded, against the limits of this machine; the longest first."""
    if limits is None:
        return []
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for work in run.works:
        if work.core in ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC") and _moved(work):
            for i, value in enumerate((_flops(work), _moved(work), work.duration)):
                sums[work.name][i] += value
    points = []
    for name, (flops, moved, ns) in sorted(sums.items(), key=lambda item: -item[1][2]):
        if not flops or not ns:
            continue
        intensity = flops / moved
        reachable = min(limits.gflops, intensity * limits.gbytes)
        bound = "memory" if intensity * limits.gbytes < limits.gflops else "arithmetic"
        points.append(Point(name, intensity, flops / ns, flops / ns / reachable, bound))
    return points


def memory(run: Run) -> tuple[list[tuple[int, int]], list[Owner]]:
    """Bytes of device memory over time, from the recording's beginning, and who owned them at the peak."""
    changes = sorted(
        [(block.begin, block.bytes) for block in run.blocks]
        + [(block.end, -block.bytes) for block in run.blocks if block.end]
    )
    curve, used, peak, peak_time = [], 0, 0, 0
    for moment, change in changes:
        used += change
        curve.append((moment - run.begin, used))
        if used > peak:
            peak, peak_time = used, moment
    owners: dict[str, list[int]] = defaultdict(list)
    for block in run.blocks:
        if block.begin <= peak_time and not 0 < block.end <= peak_time:
            owners[block.owner or "outside of operators"].append(block.bytes)
    rows = [Owner(name, sum(sizes), len(sizes)) for name, sizes in owners.items()]
    return curve, sorted(rows, key=lambda row: -row.bytes)
