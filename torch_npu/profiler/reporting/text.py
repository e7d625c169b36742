"""A report as text, and two reports side by side."""

from collections.abc import Sequence

from torch_npu._core.columns import aligned
from torch_npu.profiler.reporting.advice import Recommendation
from torch_npu.profiler.reporting.content import Copies, Report, Waits

_ROWS = 12
_MB = 1 << 20


def ms(ns: float) -> str:
    """Milliseconds with three decimals."""
    return f"{ns / 1e6:.3f}"


def percent(share: float) -> str:
    """With one decimal."""
    return f"{100 * share:.1f}"


def _table(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: range
) -> list[str]:
    if not rows:
        return []
    shown = rows[:_ROWS]
    more = [f"  and {len(rows) - _ROWS} more"] if len(rows) > _ROWS else []
    return ["", title, *("  " + line for line in aligned([head, *shown], right=right)), *more]


def _advice(number: int, item: Recommendation) -> list[str]:
    lines = [f"{number}. {item.fault}" + (f" at {item.location}" if item.location else "")]
    lines += [f"     {item.line}"] if item.line else []
    lines += [f"   evidence: {fact}" for fact in item.evidence]
    gain = f"{ms(item.gain_ns)} ms, {percent(item.share)} % of the recording"
    return [*lines, f"   expected gain: {gain}", f"   change: {item.change}"]


def operator_rows(found: Report) -> list[tuple[str, ...]]:
    """Cells of the table of operators."""
    return [
        (row.name, row.operator, row.core, str(row.runs), ms(row.total_ns), percent(row.share), row.location)
        for row in found.operators
    ]  # fmt: skip


OPERATOR_HEAD = ("kernel", "operator", "core", "runs", "ms", "%", "line")


def text(found: Report) -> str:
    """The whole report."""
    lines = [
        f"{found.folder}",
        f"recorded {ms(found.duration_ns)} ms, {found.steps} steps; the device worked for {ms(found.busy_ns)} ms, "
        f"{percent(found.busy_ns / found.duration_ns)} %",
        "",
    ]
    if not found.has_lines:
        lines += ["without lines of the program: it was not recorded by torch_npu.profiler", ""]
    for number, item in enumerate(found.recommendations, 1):
        lines += _advice(number, item)
    if not found.recommendations:
        lines.append("no change would save a twentieth of the time")
    lines += _table("time by kernel", OPERATOR_HEAD, operator_rows(found), range(3, 6))
    lines += _table(
        "longest times without work on the device",
        ("at ms", "ms", "before", "after", "what the host did"),
        [
            (ms(gap.begin_ns), ms(gap.duration_ns), gap.before, gap.after,
             "; ".join(f"{location} {percent(share)} %" for location, share in gap.host) or "not sampled")
            for gap in found.gaps
        ],
        range(2),
    )  # fmt: skip
    lines += _table(
        "waits of the host",
        ("line", "waits", "ms"),
        [(row.location, str(row.count), ms(row.total_ns)) for row in found.waits],
        range(1, 3),
    )
    lines += _table(
        "copies between host and device",
        ("line", "kind", "copies", "MiB", "ms"),
        [
            (row.location, row.name, str(row.count), f"{row.bytes / _MB:.2f}", ms(row.total_ns))
            for row in found.copies
        ],
        range(2, 5),
    )
    lines += _table(
        "fusion groups",
        ("works", "runs", "ms", "why it ended"),
        [(" ".join(row.works), str(row.runs), ms(row.total_ns), row.ended) for row in found.fusion],
        range(1, 3),
    )
    if found.limits is not None:
        lines += _table(
            f"roofline: {found.limits.gflops:.0f} GFLOP/s, {found.limits.gbytes:.1f} GB/s measured on this machine",
            ("kernel", "flop/byte", "GFLOP/s", "% of limit", "bound by"),
            [
                (
                    p.name,
                    f"{p.intensity:.2f}",
                    f"{p.gflops:.2f}",
                    percent(p.share_of_limit),
                    p.bound,
                )
                for p in found.roofline
            ],
            range(1, 4),
        )
    lines += _table(
        "memory at its peak",
        ("operator", "blocks", "MiB"),
        [(row.name, str(row.blocks), f"{row.bytes / _MB:.2f}") for row in found.owners],
        range(1, 3),
    )
    return "\n".join(lines)


def comparison_rows(before: Report, after: Report) -> list[tuple[str, ...]]:
    """Cells of the table of two reports' kernels: name, ms of both, difference."""
    times: dict[str, list[int]] = {}
    for side, found in enumerate((before, after)):
        for row in found.operators:
            times.setdefault(row.name, [0, 0])[side] += row.total_ns
    ordered = sorted(times.items(), key=lambda item: -abs(item[1][1] - item[1][0]))
    return [(name, ms(a), ms(b), f"{(b - a) / 1e6:+.3f}") for name, (a, b) in ordered]


COMPARISON_HEAD = ("kernel", "before ms", "after ms", "difference")


def _sum(rows: Sequence[Waits] | Sequence[Copies]) -> int:
    return sum(row.total_ns for row in rows)


def comparison(before: Report, after: Report) -> str:
    """Two reports side by side: the whole times, then kernels by how much they changed."""
    sums: list[tuple[str, int, int]] = [
        ("recording", before.duration_ns, after.duration_ns),
        ("device at work", before.busy_ns, after.busy_ns),
        ("waits of the host", _sum(before.waits), _sum(after.waits)),
        ("copies", _sum(before.copies), _sum(after.copies)),
    ]
    totals = [(name, ms(a), ms(b), f"{(b - a) / 1e6:+.3f}") for name, a, b in sums]
    lines = [f"before: {before.folder}", f"after:  {after.folder}"]
    lines += _table("", ("", *COMPARISON_HEAD[1:]), totals, range(1, 4))
    lines += _table("kernels", COMPARISON_HEAD, comparison_rows(before, after), range(1, 4))
    return "\n".join(lines)
