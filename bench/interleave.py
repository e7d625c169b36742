"""Runs variants in turn in one process, so that what the machine does meanwhile meets both."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch
from results import Measured, table_of
from rich.console import Console
from rich.progress import track

# ./dev bench --cpu-time: one thread, and the processor time of the process, for machines that others keep busy.
CPU_TIME = "--cpu-time"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "SOFTNPU_CORES": "1"}
_clock = time.process_time if CPU_TIME in sys.argv else time.perf_counter


def restrict_threads() -> None:
    """Starts this program over with one thread where ``--cpu-time`` asks for it; numbers of threads are read early."""
    if CPU_TIME in sys.argv and any(os.environ.get(k) != v for k, v in _ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **_ONE_THREAD})


@dataclass(frozen=True)
class Row:
    """One comparison: work on npu, and what it is compared with, by default the same work on the CPU."""

    name: str
    npu: Callable[[], object]
    cpu: Callable[[], object]
    repeats: int = 100  # calls in one measurement
    against: str = "cpu"
    # An event between the calls, so that npu does not fuse one with the next. Without it: small work, which is not fused.
    is_separate: bool = True


# libgomp's threads, which PyTorch's CPU device has, look for work for so long after a call that they take a core from
# whatever comes next: 300,000 times, each up to 140 cycles.
_REST = 0.02


def _time(work: Callable[[], object], repeats: int, is_separate: bool) -> float:
    between = torch.npu.Event().record if is_separate else None
    time.sleep(_REST)
    work()  # the first call after a rest wakes threads and cores
    torch.npu.synchronize()
    started = _clock()
    for _ in range(repeats):
        work()
        if between is not None:
            between()
    torch.npu.synchronize()  # what was launched counts; on the CPU's turn there is nothing to wait for
    return (_clock() - started) / repeats


def compare(title: str, rows: list[Row], rounds: int = 15) -> list[Measured]:
    """Measures each row in ``rounds`` turns; prints median times in us and the medians of the ratios."""
    measured = []
    for row in track(rows, description=title, transient=True):
        sides = (row.npu, row.cpu)
        for side in sides:
            _time(side, 3, row.is_separate)
        times = [
            tuple(_time(side, row.repeats, row.is_separate) for side in sides)
            for _ in range(rounds)
        ]
        npu, other = (median(column) * 1e6 for column in zip(*times, strict=True))
        ratio = median(n / c for n, c in times)
        measured.append(Measured(title, row.name, row.against, npu, other, ratio))
    mode = ", one thread, CPU time" if CPU_TIME in sys.argv else ""
    Console(width=110).print(
        table_of(f"{title}: median of {rounds} interleaved rounds{mode}", measured)
    )
    return measured
