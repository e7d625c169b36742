"""The program's lines in a recording: which lines launched work, waited for the device, and what else they did.

The native module records launches and waits with their Python stacks (``torch_npu/csrc/core/program_lines.h``). A thread of
this module looks every few milliseconds where the other threads are. Both are written to ``program_lines.json`` in the
folder of the run, which ``torch_npu.profiler.reporting`` reads.
"""

import json
import os
import sys
import sysconfig
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from torch_npu._core import state

FILE = "program_lines.json"
_INTERVAL_S = 0.002
_MAX_LINES = 12
_LIBRARIES = tuple(
    str(folder) + os.sep
    for folder in {
        Path(torch.__path__[0]),
        Path(__file__).parents[1],
        Path(__file__).resolve().parents[1],
        Path(sysconfig.get_path("stdlib")),
    }
)


def _stack(frame: FrameType | None) -> str:
    """The program's lines from the innermost one, as the native module has them."""
    found: list[str] = []
    while frame is not None and len(found) < _MAX_LINES:
        file = frame.f_code.co_filename
        if not file.startswith(("<frozen", *_LIBRARIES)):
            found.append(f"{file}:{frame.f_lineno}")
        frame = frame.f_back
    return "|".join(found)


def _raw_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


class _Sampler(threading.Thread):
    """Notes the lines of the other threads, and how much processor time they have used."""

    def __init__(self) -> None:
        super().__init__(name="torch_npu profiler: lines", daemon=True)
        self.samples: list[tuple[int, int, str, int]] = []  # time, thread, stack, processor time
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(_INTERVAL_S):
            now = _raw_ns()
            threads = {thread.ident: thread for thread in threading.enumerate()}
            for ident, frame in sys._current_frames().items():
                thread = threads.get(ident)
                if thread is None or thread is self or thread.native_id is None:
                    continue
                try:
                    used = time.clock_gettime_ns(time.pthread_getcpuclockid(ident))
                except OSError:  # the thread has ended
                    continue
                self.samples.append((now, thread.native_id, _stack(frame), used))

    def end(self) -> None:
        self._ended.set()
        self.join()


class ProgramLines:
    """One recording of lines; the process has one at a time."""

    def __init__(self) -> None:
        """Begins to record."""
        state.native().start_program_lines()
        self._sampler = _Sampler()
        self._sampler.start()
        self._shift = time.time_ns() - _raw_ns()
        self._begin = _raw_ns()

    def stop(self) -> dict[str, Any]:
        """Ends the recording: what :func:`write` stores."""
        end = _raw_ns()
        self._sampler.end()
        stacks, launches, waits = state.native().stop_program_lines()
        numbers = {stack: number for number, stack in enumerate(stacks)}
        samples = [
            (moment, thread, numbers.setdefault(stack, len(numbers)), used)
            for moment, thread, stack, used in self._sampler.samples
        ]
        return {
            "clock_shift": self._shift,
            "begin": self._begin,
            "end": end,
            "cpus": len(os.sched_getaffinity(0)),
            "main_thread": threading.main_thread().native_id,
            "stacks": list(numbers),
            "launches": launches,
            "waits": waits,
            "samples": samples,
        }


def write(run: Path, recording: dict[str, Any]) -> None:
    """Writes the recording into the folder of a run, on the clock of its device's half."""
    for info in run.glob("PROF_*/host/start_info"):
        try:
            began = json.loads(info.read_text())
            recording["clock_shift"] = int(began["collectionTimeBegin"]) * 1000 - int(
                began["clockMonotonicRaw"]
            )
        except (ValueError, KeyError, TypeError):
            continue  # msprof, which reads it next, says what is wrong with it
    (run / FILE).write_text(json.dumps(recording))
