"""`./dev bench tables`: writes docs/performance.md, one table a machine in the same rows, from what machines measured.

`bench/rows.tsv` has the rows, `bench/measured` a file a machine: lines `# key: value` about it, then suite, work, what it is
compared with and the ratio, with tabs. `./dev bench tables RESULT.json MACHINE` takes over what `./dev bench --write` wrote.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dev.paths import ROOT
from dev.run import DevError, output, say

ROWS = ROOT / "bench" / "rows.tsv"
MEASURED = ROOT / "bench" / "measured"
DOCUMENT = ROOT / "docs" / "performance.md"
_HEAD = """# Performance

`./dev bench tables` writes this page from `bench/rows.tsv` and `bench/measured`. A ratio is npu's time (of memory: its bytes)
divided by that of what it is compared with: the median of interleaved rounds in one process, the slowest of the runs. Only
ratios of one machine and one run compare. "cpu" is PyTorch's CPU device, eager. HF32 is a permission that only npu's
convolutions use, on by default ([precision](precision.md)). A dash: not measured there.

A machine's table: `./dev bench --runs 3 --write result.json elementwise ops networks articles dispatch memory`, then
`./dev bench tables result.json NAME`. [Graphs](performance_of_graphs.md) and [reasons, peers, collectives, kernels and what could
bring more](performance_notes.md) are pages of their own.
"""

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Row:
    """A row of each table: its text, the suites that measure it, what npu is compared with, and the works."""

    label: str
    suites: tuple[str, ...]
    against: str
    works: tuple[str, ...]


@dataclass(frozen=True)
class Machine:
    """What one machine measured: lines about it, and ratios by suite, work and what it is compared with."""

    about: Mapping[str, str]
    ratios: Mapping[Key, str]


def read_rows(path: Path = ROWS) -> list[Row]:
    """The rows of the document.

    Raises DevError with the line that has not four columns.
    """
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 4:
            raise DevError(
                f"{path}:{number}: four columns with tabs: label, suites, against, works"
            )
        label, suites, against, works = columns
        found.append(Row(label, tuple(suites.split("|")), against, tuple(works.split("; "))))
    return found


def read_machine(path: Path) -> Machine:
    """A file of ``bench/measured``.

    Raises DevError with the line that has not four columns.
    """
    about, ratios = {}, {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("# "):
            key, _, value = line[2:].partition(": ")
            about[key] = value
            continue
        columns = line.split("\t")
        if len(columns) != 4:
            raise DevError(f"{path}:{number}: four columns with tabs: suite, work, against, ratio")
        ratios[(columns[0], columns[1], columns[2])] = columns[3]
    return Machine(about, ratios)


def _ratio(machine: Machine, row: Row, work: str) -> str:
    found = (machine.ratios.get((suite, work, row.against)) for suite in row.suites)
    return next((ratio for ratio in found if ratio is not None), "–")


def document(rows: list[Row], machines: list[Machine]) -> str:
    """The page: a section a machine, each with all rows."""
    parts = [_HEAD]
    for machine in machines:
        about = ", ".join(f"{k} {v}" for k, v in machine.about.items() if k != "machine")
        lines = [f"## {machine.about['machine']}", about, ""]
        lines += ["| work | against | ratio | command |", "|---|---|---|---|"]
        for row in rows:
            ratios = ", ".join(_ratio(machine, row, work) for work in row.works)
            lines.append(
                f"| {row.label} | {row.against} | {ratios} | `./dev bench {row.suites[0]}` |"
            )
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def take_over(result: Path, name: str, rows: list[Row]) -> None:
    """Writes the results of a run into the file of the machine ``name``; of its earlier ones those of other suites stay.

    Raises DevError if the run measured no row of the document.
    """
    data = json.loads(result.read_text())
    new = {(r["suite"], r["work"], r["against"]): f"{r['ratio']:.2f}" for r in data["rows"]}
    wanted = {(s, work, row.against) for row in rows for s in row.suites for work in row.works}
    new = {key: ratio for key, ratio in new.items() if key in wanted}
    if not new:
        raise DevError(f"{result} measured no row of {ROWS.relative_to(ROOT)}")
    file = MEASURED / f"{name}.tsv"
    old = read_machine(file).ratios if file.exists() else {}
    suites = {suite for suite, _, _ in new}
    kept = {key: ratio for key, ratio in old.items() if key[0] not in suites}
    about = {
        "machine": f"{data['machine']['processor']}, {data['machine']['threads']} threads",
        "torch": data["machine"]["torch"],
        "load": data["machine"]["load"],
        "state": output(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]).strip(),
        "measured": datetime.now(UTC).date().isoformat(),
    }
    lines = [f"# {key}: {value}" for key, value in about.items()]
    lines += ["\t".join((*key, ratio)) for key, ratio in {**kept, **new}.items()]
    file.write_text("\n".join(lines) + "\n")
    say(f"{file.relative_to(ROOT)}: {len(new)} rows, {len(kept)} of earlier runs")


def machines() -> list[Machine]:
    """The machines, those with most measurements first."""
    found = [read_machine(path) for path in sorted(MEASURED.glob("*.tsv"))]
    return sorted(found, key=lambda machine: -len(machine.ratios))


def tables(arguments: list[str]) -> None:
    """Writes the document; with two arguments takes over a run's results first."""
    rows = read_rows()
    if arguments:
        take_over(Path(arguments[0]), arguments[1], rows)
    DOCUMENT.write_text(document(rows, machines()))
    say(DOCUMENT.relative_to(ROOT).as_posix())
