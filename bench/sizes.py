"""Every operator with an aclnn entry at five sizes, npu against CPU eager; those that are slower are printed."""

import json
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
from results import Measured
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
# A ratio above it is printed.
BOUND = 1.1
# Seconds of each side's measurement of one call, and the longest call on the CPU that is measured.
_SECONDS, _LONGEST = 0.02, 0.25
# Measurements of a call that looks slow: each time others run on the machine, too.
_ATTEMPTS = 3


def _least(work: Callable[[], object], calls: int) -> float:
    """Seconds of the fastest of ``calls`` calls, each finished."""
    least = math.inf
    for _ in range(calls):
        started = time.perf_counter()
        work()
        torch.npu.synchronize()
        least = min(least, time.perf_counter() - started)
    return least


def ratio(npu: Callable[[], object], cpu: Callable[[], object]) -> tuple[float, float] | None:
    """The least seconds of both, measured in turns; None if the CPU takes too long."""
    once = min(_least(cpu, 1), _least(cpu, 1))
    if once > _LONGEST:
        return None
    _least(npu, 2)
    calls = max(1, min(200, int(_SECONDS / max(once, 1e-6))))
    least = (math.inf, math.inf)
    for _ in range(_ATTEMPTS):
        times = [least, *((_least(npu, calls), _least(cpu, calls)) for _ in range(3))]
        least = min(n for n, _ in times), min(c for _, c in times)
        if least[0] <= BOUND * least[1]:
            break
    return least


def _rows_of(name: str, calls: list) -> list[tuple[int, float, float]]:
    """Elements, and microseconds on npu and on the CPU, of each size to which a call of the operator grows."""
    from scaled import grown

    rows = []
    for size in SIZES:
        call = grown(calls, size)
        if call is None:
            continue
        try:
            times = ratio(call.on("npu"), call.on("cpu"))
        except RuntimeError as error:
            print(f"{name}, {size:,}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        if times is None:
            break
        rows.append((size, times[0] * 1e6, times[1] * 1e6))
    return rows


def _measure_all(names: list[str]) -> None:
    """Writes what `children.outcomes` reads: the rows of each operator as JSON."""
    from fuzz.__main__ import recorded_calls

    warnings.simplefilter("ignore")
    recorded = torch.load(recorded_calls(), weights_only=False)
    for name in names:
        print("try", name, flush=True)
        print(name, json.dumps(_rows_of(name, recorded[name])), flush=True)


def measure(wanted: str = "") -> list[Measured]:
    """Measures every operator whose name has ``wanted``; prints the slow ones and a summary.

    In processes of their own, since some of the CPU's kernels crash for arguments that they do not check.
    """
    from fuzz.__main__ import recorded_calls
    from schemas import children

    recorded = torch.load(recorded_calls(), weights_only=False)
    names = [name for name in sorted(recorded) if wanted in name]
    path = f"{ROOT / 'bench'}:{ROOT / 'tests'}:{ROOT}"
    found = children.outcomes("sizes", names, seconds=600, env={"PYTHONPATH": path})
    rows: list[Measured] = []
    left_out: list[str] = []
    for name, text in found.items():
        if not text.startswith("["):
            print(f"{name}: {text.splitlines()[0]}", file=sys.stderr)
        of_sizes = json.loads(text) if text.startswith("[") else []
        rows += [
            Measured("sizes", f"{name}, {size:,}", "cpu", npu, cpu, npu / cpu)
            for size, npu, cpu in of_sizes
        ]
        if not of_sizes:
            left_out.append(name)
    _report(rows, left_out)
    return rows


def _report(rows: list[Measured], left_out: list[str]) -> None:
    slow = sorted((row for row in rows if row.ratio > BOUND), key=lambda row: -row.ratio)
    table = Table(title=f"sizes: rows above {BOUND}")
    table.add_column("operator, elements")
    for column in ("npu us", "CPU us", "ratio"):
        table.add_column(column, justify="right")
    for row in slow:
        table.add_row(row.work, f"{row.npu:,.1f}", f"{row.other:,.1f}", f"{row.ratio:.2f}")
    Console(width=110).print(table)
    for size in SIZES:
        of_size = [row.ratio for row in rows if row.work.endswith(f" {size:,}")]
        if of_size:
            over = sum(r > BOUND for r in of_size)
            print(
                f"{size:>12,} elements: {len(of_size)} operators, geometric mean"
                f" {statistics.geometric_mean(of_size):.2f}, {over} above {BOUND}"
            )
    if rows:
        mean = statistics.geometric_mean(row.ratio for row in rows)
        print(
            f"{len(slow)} of {len(rows)} rows above {BOUND}"
            f" ({len(slow) / len(rows):.1%}); geometric mean {mean:.2f}"
        )
    if left_out:
        print(f"{len(left_out)} operators have no call that grows: {', '.join(left_out)}")


if __name__ == "__main__":
    _measure_all(sys.stdin.read().split())
