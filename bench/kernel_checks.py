"""What checked mode finds in the labelled kernels (softnpu/tests/ascendc/labelled), and the time that it takes."""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from results import Measured
from rich.console import Console
from rich.table import Table

_PROGRAM = Path(__file__).resolve().parents[1] / "build" / "softnpu" / "tests" / "kernel_checks"
_SCHEDULES = ["eager", "late", *(f"seed:{seed}" for seed in range(20))]


@dataclass(frozen=True)
class Outcome:
    """What checked mode said about one labelled kernel."""

    name: str
    check: str  # which has to report the bug
    is_bug: bool  # else the fixed twin
    found: tuple[str, ...]  # the checks that reported


@dataclass
class Recall:
    """Of one check, over all schedules."""

    bugs: int = 0
    reported: int = 0
    fixed: int = 0
    alarms: int = 0


def read(lines: Iterable[str]) -> list[Outcome]:
    """The lines that the program ``kernel_checks`` prints."""
    outcomes = []
    for line in lines:
        name, check, variant, found, *_ = line.split("\t")
        checks = () if found == "-" else tuple(found.split(","))
        outcomes.append(Outcome(name, check, variant == "bug", checks))
    return outcomes


def recall(outcomes: Iterable[Outcome]) -> dict[str, Recall]:
    """Counts by check. A twin's report is an alarm of the check that the twin is for."""
    counts: dict[str, Recall] = {}
    for outcome in outcomes:
        row = counts.setdefault(outcome.check, Recall())
        if outcome.is_bug:
            row.bugs += 1
            row.reported += outcome.check in outcome.found
        else:
            row.fixed += 1
            row.alarms += bool(outcome.found)
    return counts


def _run(*words: str, **variables: str) -> list[str]:
    names = ("SOFTNPU_KERNEL_CHECK", "SOFTNPU_KERNEL_SCHEDULE")
    environment = {k: v for k, v in os.environ.items() if k not in names} | variables
    result = subprocess.run(
        [_PROGRAM, *words], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        sys.exit(f"{_PROGRAM.name} failed with exit code {result.returncode}: {result.stderr}")
    return result.stdout.splitlines()


def _milliseconds(**variables: str) -> float:
    return statistics.median(float(line) for line in _run("--time", **variables))


def measure() -> list[Measured]:
    """Prints both tables; the second is the row that it returns."""
    outcomes = [
        outcome
        for schedule in _SCHEDULES
        for outcome in read(_run(SOFTNPU_KERNEL_CHECK="1", SOFTNPU_KERNEL_SCHEDULE=schedule))
    ]
    table = Table(title=f"labelled kernels, each in {len(_SCHEDULES)} schedules")
    table.add_column("check")
    for column in ("bugs", "reported", "recall", "fixed twins", "alarms"):
        table.add_column(column, justify="right")
    for check, row in recall(outcomes).items():
        bugs, fixed = (n // len(_SCHEDULES) for n in (row.bugs, row.fixed))
        share = f"{row.reported / row.bugs:.0%}"
        table.add_row(
            check, str(bugs), f"{row.reported} of {row.bugs}", share, str(fixed), str(row.alarms)
        )
    Console(width=140).print(table)

    table = Table(
        title="an addition of 1 Mi floats in 8 blocks: medians of 3 processes of each kind in turn"
    )
    table.add_column("mode")
    for column in ("ms", "to release"):
        table.add_column(column, justify="right")
    release, late, eager = [], [], []
    for _ in range(3):
        release.append(_milliseconds())
        late.append(_milliseconds(SOFTNPU_KERNEL_CHECK="1"))
        eager.append(_milliseconds(SOFTNPU_KERNEL_CHECK="1", SOFTNPU_KERNEL_SCHEDULE="eager"))
    base = statistics.median(release)
    rows = {
        "release": base,
        "checked": statistics.median(late),
        "checked, eager": statistics.median(eager),
    }
    for mode, milliseconds in rows.items():
        table.add_row(mode, f"{milliseconds:.2f}", f"{milliseconds / base:.1f}")
    Console(width=140).print(table)
    checked = rows["checked"]
    return [Measured("kernel-checks", "addition", "release", checked, base, checked / base, "ms")]
