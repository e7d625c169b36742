"""What was measured: rows as JSON, as a table, as Markdown; two files beside each other."""

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Measured:
    """One row: the slowest of its runs by the ratio, which is the median of interleaved rounds."""

    suite: str
    work: str
    against: str
    npu: float
    other: float
    ratio: float
    unit: str = "us"


@dataclass
class Results:
    """All rows of one call, with the machine that they were measured on."""

    machine: dict[str, str] = field(default_factory=dict)
    rows: list[Measured] = field(default_factory=list)

    def add(self, rows: Iterable[Measured]) -> None:
        """Keeps of rows that are measured again the slowest."""
        for row in rows:
            at = next((i for i, r in enumerate(self.rows) if _key(r) == _key(row)), None)
            if at is None:
                self.rows.append(row)
            elif row.ratio > self.rows[at].ratio:
                self.rows[at] = row

    def write(self, path: Path) -> None:
        """As JSON, or as a Markdown table where the name ends so."""
        text = _markdown(self) if path.suffix == ".md" else json.dumps(asdict(self), indent=1)
        path.write_text(text + "\n")

    @staticmethod
    def read(path: Path) -> "Results":
        """What ``write`` has written as JSON."""
        data = json.loads(path.read_text())
        return Results(data["machine"], [Measured(**row) for row in data["rows"]])


def machine(mode: str) -> dict[str, str]:
    """The processor, its threads, what else it does, and how the measurement went."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":")[1].strip() if names else model
    return {
        "processor": f"{model}, {torch.backends.cpu.get_cpu_capability()}",
        "threads": str(torch.get_num_threads()),
        "load": f"{os.getloadavg()[0]:.2f}",
        "torch": torch.__version__,
        "mode": mode,
    }


def table_of(title: str, rows: Iterable[Measured]) -> Table:
    """For people."""
    table = Table(title=title)
    table.add_column("work")
    table.add_column("npu", justify="right")
    table.add_column("against")
    table.add_column("takes", justify="right")
    table.add_column("ratio", justify="right")
    for row in rows:
        table.add_row(
            row.work,
            f"{row.npu:.1f} {row.unit}",
            row.against,
            f"{row.other:.1f} {row.unit}",
            f"{row.ratio:.2f}",
        )
    return table


def print_comparison(before: Path, after: Path) -> None:
    """The ratios of two files, and how one changed to the other; rows of one file alone are named."""
    old, new = Results.read(before), Results.read(after)
    known = {_key(row): row for row in old.rows}
    table = Table(title=f"{before.name} and {after.name}: ratios")
    table.add_column("work")
    table.add_column("against")
    for column in (before.stem, after.stem, "change"):
        table.add_column(column, justify="right")
    for row in new.rows:
        earlier = known.pop(_key(row), None)
        was, change = ("", "") if earlier is None else (
            f"{earlier.ratio:.2f}",
            f"{100 * (row.ratio / earlier.ratio - 1):+.0f} %",
        )  # fmt: skip
        table.add_row(f"{row.suite}: {row.work}", row.against, was, f"{row.ratio:.2f}", change)
    for row in known.values():
        table.add_row(f"{row.suite}: {row.work}", row.against, f"{row.ratio:.2f}", "", "gone")
    console = Console(width=120)
    for path, results in ((before, old), (after, new)):
        console.print(f"{path.name}: {', '.join(f'{k} {v}' for k, v in results.machine.items())}")
    console.print(table)


def _key(row: Measured) -> tuple[str, str, str]:
    return row.suite, row.work, row.against


def _markdown(results: Results) -> str:
    head = ", ".join(f"{k} {v}" for k, v in results.machine.items())
    lines = [
        head,
        "",
        "| suite | work | npu | against | takes | ratio |",
        "|---|---|--:|---|--:|--:|",
    ]
    lines += [
        f"| {r.suite} | {r.work} | {r.npu:.1f} {r.unit} | {r.against} | {r.other:.1f} {r.unit} | {r.ratio:.2f} |"
        for r in results.rows
    ]
    return "\n".join(lines)
