"""`./dev bench gate --base A --head B`: is the build in B slower than the one in A? Processes of both take turns."""

import argparse
import json
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from dev.paths import ROOT
from dev.run import DevError, say

WORK = ROOT / "bench" / "gate_work.py"
ROUNDS = 7
# A change within it is not told from noise, however quiet the machine is.
LEAST_BOUND = 0.03


@dataclass(frozen=True)
class Outcome:
    """One work: times per unit in us, the median of the rounds' ratios, and by how much it may differ from 1."""

    work: str
    base: float
    head: float
    ratio: float
    bound: float

    @property
    def is_slower(self) -> bool:
        """Whether head is slower beyond the bound."""
        return self.ratio > 1 + self.bound


def judged(base: list[dict[str, float]], head: list[dict[str, float]]) -> list[Outcome]:
    """The outcomes of rounds that took turns.

    The bound is three times the median deviation of the rounds' ratios from their median, and at least LEAST_BOUND.

    Raises:
        DevError: the two measured other works.
    """
    names = set(base[0]) & set(head[0])
    if not names:
        raise DevError("gate: the two builds have no work in common")
    found = []
    for name in sorted(names):
        a, b = [r[name] for r in base], [r[name] for r in head]
        ratios = [y / x for x, y in zip(a, b, strict=True)]
        ratio = median(ratios)
        deviation = median(abs(r - ratio) for r in ratios)
        found.append(Outcome(name, median(a), median(b), ratio, max(3 * deviation, LEAST_BOUND)))
    return found


def _measure(checkout: Path) -> dict[str, float]:
    done = subprocess.run(
        [checkout / ".venv" / "bin" / "python", WORK], cwd=checkout, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise DevError(f"gate: the build in {checkout} fails:\n{done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def checkout(text: str) -> Path:
    """A folder with a build.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    path = Path(text).resolve()
    if not (path / "build" / "python" / "torch_npu" / "_C.so").exists():
        raise argparse.ArgumentTypeError(f"{path} has no build: run ./dev build there")
    return path


def report(outcomes: list[Outcome]) -> str:
    """The outcomes as a table in Markdown."""
    lines = [
        f"Medians of {ROUNDS} rounds, in which processes of both builds took turns.",
        "",
        "| work | base us | head us | head / base | may differ by | outcome |",
        "|---|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {v.work} | {v.base:.1f} | {v.head:.1f} | {v.ratio:.3f} | {v.bound:.3f} | "
        f"{'SLOWER' if v.is_slower else 'ok'} |"
        for v in outcomes
    ]
    return "\n".join(lines)


def gate(
    base: Path,
    head: Path,
    write: Path | None,
    measure: Callable[[Path], dict[str, float]] = _measure,
) -> None:
    """Measures, prints the report and writes it.

    Args:
        base: the checkout that is compared with.
        head: the one that is judged.
        write: a file for the report: JSON, or Markdown where its name ends with .md.
        measure: what one process of a checkout measures.

    Raises:
        DevError: head is slower, or a build fails.
    """
    rounds: dict[Path, list[dict[str, float]]] = {base: [], head: []}
    for number in range(ROUNDS):
        say(f"gate: round {number + 1} of {ROUNDS}")
        # The first one of a round finds other caches and clocks than the second: they take turns at that, too.
        for side in (base, head) if number % 2 == 0 else (head, base):
            rounds[side].append(measure(side))
    outcomes = judged(rounds[base], rounds[head])
    text = report(outcomes)
    print(text)
    if write is not None:
        content = (
            text if write.suffix == ".md" else json.dumps([asdict(v) for v in outcomes], indent=1)
        )
        write.write_text(content + "\n")
    if slower := [v.work for v in outcomes if v.is_slower]:
        raise DevError(f"gate: slower than the base: {', '.join(slower)}")
