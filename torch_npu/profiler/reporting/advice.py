"""What to change in a program, by its recording: each recommendation has evidence, an expected gain and the change.

A gain is predicted by a model of what would be left: host and device work at the same time unless one waits for the other,
and the device's cores are the host's. It is the time of the recording that the change saves, never more than what was
measured.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from torch_npu.profiler.reporting.run import Run, Wait, Work, location_of

# A change that saves less is not worth a line of the report.
_LEAST_SHARE = 0.05
_LOADER = "enumerate(DataLoader)"
_CASTS = ("TransData", "NpuFormatCast", "FormatCast", "InplaceCopy", "ViewCopy", "Contiguous")
_ONE_BY_ONE = 8  # so many runs of the same work in one step
_LARGE_COPY = 1 << 16
_PRODUCTS = ("AI_CORE", "MIX_AIC")
_MS = 1e6


@dataclass(frozen=True)
class Recommendation:
    """One change.

    Args:
        fault: what is wrong, a few words.
        location: the line of the program, "train.py:12"; empty if none is known.
        evidence: what was measured, and where else.
        change: what to do.
        gain_ns: the time of the recording that the change is expected to save.
        share: the same as a share of the recording.
    """

    fault: str
    location: str
    evidence: tuple[str, ...]
    change: str
    gain_ns: int
    share: float

    @property
    def line(self) -> str:
        """The text of the line of the program; empty if the file cannot be read."""
        return line_of(self.location)


def line_of(location: str) -> str:
    """The source of a line of the program, without indentation; empty if its file cannot be read."""
    file, _, number = location.rpartition(":")
    try:
        return Path(file).read_text().splitlines()[int(number) - 1].strip()
    except (OSError, ValueError, IndexError):
        return ""


class _Placed(Protocol):
    @property
    def location(self) -> str: ...


_P = TypeVar("_P", bound=_Placed)


def _by_position(items: Iterable[_P]) -> dict[str, list[_P]]:
    found: dict[str, list[_P]] = defaultdict(list)
    for item in items:
        if item.location:
            found[item.location].append(item)
    return found


def _ms(ns: float) -> str:
    return f"{ns / _MS:.2f} ms"


@dataclass
class _Found:
    run: Run
    items: list[Recommendation] = field(default_factory=list)

    def add(self, fault: str, location: str, evidence: list[str], change: str, gain: float) -> None:
        gain = min(gain, self.run.duration * 0.99)
        share = gain / self.run.duration
        if share >= _LEAST_SHARE:
            self.items.append(
                Recommendation(fault, location, tuple(evidence), change, round(gain), share)
            )


def _overlap_factor(run: Run) -> float:
    """What the host gains by working while the device does: all if that leaves it a core."""
    total = sum(work.duration for work in run.works)
    used = sum(work.duration * work.cores for work in run.works) / max(total, 1)
    return 1.0 if used <= run.cpus - 1 else 1 - used / (run.cpus + 1)


def _synchronizations(run: Run, found: _Found) -> None:
    begins = [work.begin for work in run.works if work.core != "MEMCPY_ASYNC"]
    factor = _overlap_factor(run)
    for location, waits in _by_position(run.waits).items():
        copies = {copy.location for copy in run.copies if copy.name == "Memcpy HtoD"}
        if len(waits) < 2 or (location in copies and _is_input(run, location)):
            continue
        idle = 0.0
        waited = sum(wait.end - wait.begin for wait in waits)
        # A copy to the host waits before and after: waits without work between them are one.
        by_following: dict[int, list[Wait]] = defaultdict(list)
        for wait in waits:
            at = bisect_left(begins, wait.end)
            by_following[begins[at] if at < len(begins) else run.end].append(wait)
        for following, group in by_following.items():
            spent = sum(wait.end - wait.begin for wait in group)
            idle += min(spent, following - group[-1].end)
        found.add(
            "the host waits for the device",
            location,
            [
                f"{len(waits)} waits, {_ms(waited)} in sum",
                f"after them the device had no work for {_ms(idle)}",
                f"of which {100 * factor:.0f} % can overlap on {run.cpus} cores",
            ],
            "keep the value on the device (detach() instead of item(), cpu() or print) and read it once, after the loop "
            "or every some steps",
            idle * factor,
        )


def _is_input(run: Run, location: str) -> bool:
    """Whether a line copies new data to the device, as each step of a training does."""
    contents = [copy.content for copy in run.copies if copy.location == location and copy.bytes]
    return len(set(contents)) > len(contents) / 2


def _loader(run: Run, found: _Found) -> None:
    ranges = [r for r in run.ranges if r.name.startswith(_LOADER)]
    if not ranges or not run.samples:
        return
    spent = sum(r.end - r.begin for r in ranges)
    outer: dict[str, int] = defaultdict(int)
    inner: dict[str, int] = defaultdict(int)
    used, last = 0, None
    for r in ranges:
        for sample, duration in run.samples_of_main(r.begin, r.end):
            if last is not None and last.time >= r.begin:
                used += sample.used - last.used
            last = sample
            if sample.stack:
                inner[location_of(sample.stack)] += duration
                outer[next((s for s in reversed(sample.stack)), "")] += duration
    if not inner:
        return
    location = max(inner, key=inner.__getitem__)
    loop = max(outer, key=outer.__getitem__)
    workers = max(run.cpus, 2)
    rest = run.duration - spent
    processor = (rest * min(run.cpus, 2) + used) / run.cpus if used > spent / 2 else 0
    gain = run.duration - max(rest, spent / workers, processor)
    found.add(
        "the device waits for the data loader",
        location,
        [
            f"{len(ranges)} batches took {_ms(spent)} of {_ms(run.duration)}",
            f"most of it at {location}: {line_of(location)}",
            f"loaded for {loop}: {line_of(loop)}",
        ],
        f"load in other processes: DataLoader(..., num_workers={workers}), or make this line faster, or do it once before "
        "the loop",
        gain,
    )


def _ai_cpu(run: Run, found: _Found) -> None:
    works = [work for work in run.works if work.core == "AI_CPU"]
    for location, group in _by_position(works).items():
        spent = sum(work.duration for work in group)
        names = sorted({work.operator or work.name for work in group})
        found.add(
            "an operator runs on the AI CPU",
            location,
            [
                f"{', '.join(names)}: {len(group)} runs, {_ms(spent)}",
                "the device has no kernel for it, or not for these data types: "
                + (", ".join(sorted({t for work in group for t in work.input_types})) or "unknown"),
            ],
            "use operators or data types that have a kernel (float32 instead of float64; torch_npu.utils.explain shows the "
            "route of each call), or compute it less often",
            0.8 * spent,
        )


def _is_cast(work: Work) -> bool:
    if work.kind not in _CASTS and not any(work.name.startswith(f"aclnn{c}") for c in _CASTS):
        return False
    return work.input_types[-1:] == work.output_types[:1] or "Format" in work.name


def _casts(run: Run, found: _Found) -> None:
    for location, group in _by_position(w for w in run.works if _is_cast(w)).items():
        if len(group) < 2:
            continue
        spent = sum(work.duration for work in group)
        found.add(
            "a tensor is brought into another layout again and again",
            location,
            [
                f"{group[0].name}: {len(group)} runs, {_ms(spent)}",
                f"shapes {sorted({work.output_shapes for work in group})[:3]}",
            ],
            "convert it once before the loop (weights: model.to(memory_format=...) or npu_format_cast; inputs: in the "
            "loader), or keep one layout throughout",
            spent,
        )


def _copies(run: Run, found: _Found) -> None:
    by_position = _by_position(c for c in run.copies if c.name == "Memcpy HtoD" and c.bytes)
    for location, group in by_position.items():
        again, seen = [], set()
        for copy in group:
            if copy.bytes >= _LARGE_COPY and (copy.content, copy.bytes) in seen:
                again.append(copy)
            seen.add((copy.content, copy.bytes))
        if not again:
            continue
        spent = sum(copy.end - copy.begin for copy in again)
        size = sum(copy.bytes for copy in again) / (1 << 20)
        found.add(
            "the same data are copied to the device again and again",
            location,
            [
                f"{len(again)} of {len(group)} copies had bytes that were copied before",
                f"{size:.1f} MiB, {_ms(spent)}",
            ],
            "copy them once before the loop and keep them on the device",
            spent,
        )


def _common_location(stacks: set[tuple[str, ...]]) -> str:
    first, *others = sorted(stacks, key=len)
    shared = [line for line in first if all(line in other for other in others)]
    return location_of(tuple(shared))


def _is_single(work: Work) -> bool:
    return bool(work.stack) and bool(work.output_shapes) and work.output_shapes[0][:1] == (1,)


def _one_by_one(run: Run, found: _Found) -> None:
    steps = run.steps or [(run.begin, run.end)]
    groups: dict[str, list[Work]] = defaultdict(list)
    for work in filter(_is_single, run.works):
        groups[location_of(work.stack[-1:])].append(work)
    for works in groups.values():
        saved, times, stacks = 0.0, [], set()
        for begin, end in steps:
            mine = [w for w in works if begin <= w.launched <= end]
            counts: dict[tuple, int] = defaultdict(int)
            for work in mine:
                counts[work.stack, work.name, work.input_shapes] += 1
            repeated = {key for key, n in counts.items() if n >= _ONE_BY_ONE}
            looped = [w for w in mine if (w.stack, w.name, w.input_shapes) in repeated]
            # Sums over a batch have one row, too: a network on one sample has products or convolutions.
            if not any(w.core in _PRODUCTS for w in looped):
                continue
            n = min(counts[key] for key in repeated)
            span = max(w.end for w in looped) - min(w.launched for w in looped)
            device = sum(w.duration for w in looped)
            saved += max(span - device, 0) * (1 - 1 / n)
            times.append(n)
            stacks |= {w.stack for w in looped}
        if stacks:
            location = _common_location(stacks)
            found.add(
                "samples are computed one by one",
                location,
                [
                    f"the same works with a batch of 1 run {max(times)} times in a step",
                    f"between them the host needed {_ms(saved)}",
                ],
                "put the samples into one tensor (torch.stack, a larger batch_size) and call the model once",
                saved,
            )


_RULES: tuple[Callable[[Run, _Found], None], ...] = (
    _synchronizations,
    _loader,
    _ai_cpu,
    _casts,
    _copies,
    _one_by_one,
)


def recommendations(run: Run) -> list[Recommendation]:
    """All changes that would save at least a twentieth of the recording, the one with the largest gain first.

    Where several faults are on one line, only that with the largest gain is listed.
    """
    found = _Found(run)
    for rule in _RULES:
        rule(run, found)
    best: dict[str, Recommendation] = {}
    for item in sorted(found.items, key=lambda item: -item.gain_ns):
        best.setdefault(item.location or item.fault, item)
    return list(best.values())
