"""./dev bench report: programs with a planted fault; the report names its line, and its change saves what it predicts."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import report_programs
from report_programs import FAULTS, TUNED, Step
from results import Measured
from rich.console import Console
from rich.table import Table

_STEPS = 5
_ROUNDS = 5
_LEAST_OF_PREDICTION = 0.5


def recorded(step: Step) -> object:
    """The report of some steps."""
    from torch_npu import profiler

    for _ in range(2):
        step()
    with tempfile.TemporaryDirectory() as folder:
        config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)
        with profiler.profile(
            schedule=profiler.schedule(wait=0, warmup=1, active=_STEPS, repeat=1),
            on_trace_ready=profiler.tensorboard_trace_handler(folder),
            record_shapes=True,
            experimental_config=config,
        ) as profile:
            for _ in range(_STEPS + 1):
                step()
                profile.step()
        return profiler.report(folder)


def planted_line(name: str) -> str:
    """Where the fault of a program is, as the report names lines."""
    path = Path(report_programs.__file__)
    (number,) = [
        number
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith(f"# planted {name}")
    ]
    return f"{path}:{number}"


def _time(step: Step) -> float:
    import torch

    torch.npu.synchronize()
    started = time.perf_counter()
    for _ in range(_STEPS):
        step()
    torch.npu.synchronize()
    return (time.perf_counter() - started) / _STEPS


def saved_share(program: Callable[[bool], Step]) -> float:
    """Which share of a step the program without the fault saves: the median of interleaved rounds."""
    faulty, tuned = program(True), program(False)
    for step in (faulty, tuned):
        step()
    ratios = []
    for _ in range(_ROUNDS):
        before, after = _time(faulty), _time(tuned)
        ratios.append(1 - after / before)
    return median(ratios)


def measure() -> list[Measured]:
    """Prints what was found; leaves with exit code 1 if a fault was missed, or one was found where there is none."""
    table = Table(title="report: the first recommendation for a planted fault")
    for column in ("program", "fault", "line", "predicted", "saved", "right"):
        table.add_column(column)
    failed = []
    for name, program in FAULTS.items():
        found = recorded(program(True)).recommendations  # type: ignore[attr-defined]
        saved = saved_share(program)
        first = found[0] if found else None
        is_named = first is not None and first.location == planted_line(name)
        is_right = is_named and saved >= _LEAST_OF_PREDICTION * first.share  # type: ignore[union-attr]
        failed += [] if is_right else [name]
        table.add_row(
            name,
            first.fault if first else "none",
            first.location.rpartition("/")[2] if first else "",
            f"{100 * first.share:.0f} %" if first else "",
            f"{100 * saved:.0f} %",
            "yes" if is_right else "NO",
        )
    for name, program in TUNED.items():
        found = recorded(program(False)).recommendations  # type: ignore[attr-defined]
        failed += [name] if found else []
        text = "; ".join(f"{r.fault} {r.location.rpartition('/')[2]} {r.share:.0%}" for r in found)
        table.add_row(name, text or "none", "", "", "", "NO" if found else "yes")
    Console(width=140).print(table)
    if failed:
        sys.exit(f"report: wrong for {', '.join(failed)}")
    return []  # no times
