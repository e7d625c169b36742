"""Runs draws on npu and, in other processes, on the CPU; counts equal results and keeps those that differ."""

import json
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from fuzz.draw import Drawer, Drawn, Name
from fuzz.known_cpu_errors import known_cpu_error
from fuzz.other_layouts import other_layout
from fuzz.recorded import ROOT
from fuzz.run import MISREADS, REFUSALS, run
from fuzz.side import CpuSide, layout_problems, packed, unpacked
from torch_npu.accuracy.structure import same_values

FOLDER = ROOT / "build" / "fuzz"
# The draw that runs: it is replayed if the process ends during it.
LAST = FOLDER / "last.txt"
# Errors that say that the CPU has no kernel for the data types or layouts: such draws say nothing about npu.
NO_KERNEL = (
    "not implemented for", "unsupported ScalarType", "not supported", "is not implemented", "expected scalar type",
    "itensor_view_from_dense", "could not create a primitive", "must be contiguous", "to be contiguous", "same dtype",
    "tensor does not have a device", "could not construct a memory descriptor",
)  # fmt: skip
# Errors that say that one of the two devices has not enough memory: such draws say nothing either.
NO_MEMORY = ("can't allocate memory", "not enough memory", "OutOfMemoryError", "MemoryError")


def _ahead(batches: Iterable[list[Name]], cpu: CpuSide) -> Iterator[list[Name]]:
    """The batches; the CPU starts each one while the previous one runs."""
    waiting: deque[list[Name]] = deque()
    for batch in batches:
        cpu.ask([(name, None) for name in batch])
        waiting.append(batch)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting


class Last:
    """The file that names the running draw, which survives a crash; it is overwritten in place, because truncation is
    slow."""

    _SIZE = 4096

    def __init__(self, path: Path):
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)

    def write(self, name: Name, call: Drawn) -> None:
        """Writes the name of the draw."""
        text = f"{name}\n{call}\n".encode()[: self._SIZE]
        os.pwrite(self._file, text.ljust(self._SIZE), 0)


class Fuzzer:
    """Runs draws on both sides and counts."""

    def __init__(self, calls: Path):
        self._last = Last(LAST)
        self.drawer = Drawer(torch.load(calls, weights_only=False))
        (FOLDER / "failures.json").write_text("[]")
        self._cpu = CpuSide(calls)
        self._judge = CpuSide(calls)
        self._judging: deque[tuple[Name, Drawn]] = deque()
        self.compared: Counter = Counter()  # by operator and dtype
        self.judged = 0
        self.outcomes: Counter = Counter()
        self.failures: list[dict] = []
        self.crashes: list[dict] = []  # of a process that calls the CPU only
        self.known: Counter = Counter()

    def run(self, batches: Iterable[list[Name]]) -> None:
        """Runs the draws of ``batches``, one batch after another."""
        for batch in _ahead(batches, self._cpu):
            for name in batch:
                self._one(name)
            while self._judging:
                self._fault_in(*self._judging.popleft())

    def _one(self, name: Name) -> None:
        call = self.drawer.draw(name)
        expected = self._cpu.next()
        if expected[0] == "died":
            # npu may use the same kernel on its AI CPU: a draw that ends the CPU's process is not run here.
            self.crashes.append({"draw": str(name), "call": str(call)})
            return
        self._last.write(name, call)
        actual = _attempt(call)
        if actual[0] == "unclear":
            self._fail(name, call, f"npu has no message of its own: {actual[1]}")
            return
        for side in (expected, actual):
            if side[0] == "refused" and any(text in side[1] for text in NO_MEMORY):
                self.outcomes["no memory"] += 1
                return
        if expected[0] == "refused":
            self._refused(name, call, expected[1], actual)
            return
        self.compared[name.operator, name.dtype] += 1
        if actual[0] == "refused":
            self._fail(name, call, f"npu refuses it: {actual[1][:300]}")
            return
        if problems := layout_problems(expected[1], actual[1]):
            self._other_layout(name, call, unpacked(expected[1]), problems)
        if expected != actual and not same_values(unpacked(expected[1]), unpacked(actual[1])):
            self._judge.ask([(name, actual[1])])
            self._judging.append((name, call))

    def _other_layout(self, name: Name, call: Drawn, results: list, problems: list[str]) -> None:
        if why := other_layout(name.operator, call, results):
            self.known[f"{name.operator}: {why}"] += 1
        else:
            self._fail(name, call, "; ".join(problems))

    def _refused(self, name: Name, call: Drawn, reason: str, actual: tuple) -> None:
        if actual[0] == "refused":
            self.outcomes["refused"] += 1
        elif any(text in reason for text in NO_KERNEL):
            self.outcomes["CPU has no kernel"] += 1
        else:
            self._fail(name, call, f"the CPU refuses it ({reason[:200]}), npu does not")

    def _fault_in(self, name: Name, call: Drawn) -> None:
        self.judged += 1
        outcome, text = self._judge.next()
        if outcome == "died":
            # The judge calls the CPU alone, in other types: its kernel does not check what was drawn.
            self.crashes.append({"draw": str(name), "call": str(call)})
        elif outcome != "fault":
            self._fail(name, call, f"the judge's process ended: {text}")
        elif text.startswith(MISREADS):
            self.known[
                f"{name.operator}: the CPU gives another result for dense copies, it misreads strides"
            ] += 1
        elif text:
            self._fail(name, call, text)

    def _fail(self, name: Name, call: Drawn, text: str) -> None:
        if why := known_cpu_error(name.operator, call):
            self.known[why] += 1
            return
        self.failures.append({"draw": str(name), "call": str(call), "problem": text})
        (FOLDER / "failures.json").write_text(json.dumps(self.failures, indent=1))


def _attempt(call: Drawn) -> tuple:
    try:
        return ("results", packed(run(call, "npu")))
    except REFUSALS as error:
        return ("refused", f"{type(error).__name__}: {error}")
    except MemoryError as error:
        return ("unclear", f"{type(error).__name__}: {error}")
