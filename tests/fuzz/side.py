"""The CPU's side of draws, in a separate process: a crash there does not end this process.

python -m fuzz.side CALLS: reads requests from standard input and writes answers to standard output, as pickles.
"""

import os
import pickle
import resource
import signal
import subprocess
import sys
import warnings
from collections import deque
from pathlib import Path

import torch

from fuzz.draw import Drawer, Name
from fuzz.run import REFUSALS, run
from torch_npu.accuracy.layouts import layout_of, layout_problem

# Memory that the process may use for one draw in addition to its own, and the seconds of CPU time after which it is
# ended.
MEMORY, SECONDS = 1 << 30, 60

# A draw to run, or a draw with npu's packed results to judge.
Request = tuple[Name, list | None]


def packed(values: list) -> list:
    """Tensors as layout, dtype and bytes."""
    return [_pack(v) if isinstance(v, torch.Tensor) else v for v in values]


def _pack(t: torch.Tensor) -> tuple:
    layout = layout_of(t)
    t = t.detach().cpu().resolve_conj().resolve_neg().contiguous()
    return (layout, t.dtype, t.reshape(-1).view(torch.uint8).numpy().tobytes())


def unpacked(values: list) -> list:
    """The inverse of `packed`."""
    return [_unpack(v) if isinstance(v, tuple) else v for v in values]


def _unpack(v: tuple) -> torch.Tensor:
    layout, dtype, content = v
    if not content:
        return torch.empty(layout.sizes, dtype=dtype)
    return torch.frombuffer(bytearray(content), dtype=dtype).reshape(layout.sizes)


def layout_problems(expected: list, actual: list) -> list[str]:
    """Which of npu's packed results have other layouts than the CPU's; none if they are other results."""
    pairs = zip(expected, actual, strict=False)
    return [
        f"result {number} has {text}"
        for number, (e, a) in enumerate(pairs)
        if isinstance(e, tuple)
        and isinstance(a, tuple)
        and e[0].sizes == a[0].sizes
        and (text := layout_problem(e[0], a[0]))
    ]


def answer(drawer: Drawer, name: Name, actual: list | None) -> tuple:
    """``("results", …)`` or ``("refused", text)`` for a draw; ``("fault", text)`` for npu's results of a draw."""
    call = drawer.draw(name)
    if actual is not None:
        from fuzz.outcome import (
            fault_in,
        )  # PyTorch's list of OpInfos takes seconds to load, and the other process does not need it

        return ("fault", fault_in(name.operator, call, unpacked(actual)))
    try:
        return ("results", packed(run(call)))
    except (*REFUSALS, MemoryError) as error:
        return ("refused", f"{type(error).__name__}: {error}")


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, most))


def main(calls: str) -> None:
    """Answers requests until the end of its input."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    drawer = Drawer(torch.load(calls, weights_only=False))
    _limit_memory()
    while True:
        try:
            requests = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        for name, actual in requests:
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its default action ends the process
            pickle.dump(answer(drawer, name, actual), sys.stdout.buffer)
            sys.stdout.buffer.flush()
            signal.setitimer(signal.ITIMER_PROF, 0)


class CpuSide:
    """The other process; if it dies, it is started again and gets the unanswered requests again."""

    def __init__(self, calls: Path):
        self.calls = calls
        self._asked: deque[Request] = deque()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "fuzz.side", str(self.calls)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        )

    def ask(self, requests: list[Request]) -> None:
        """Sends draws to be run or judged, in this order."""
        self._asked.extend(requests)
        self._send(requests)

    def _send(self, requests: list[Request]) -> None:
        try:
            pickle.dump(requests, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it died: next() reports that and sends the remaining requests again

    def next(self) -> tuple:
        """The next answer; ``("died", code)`` if the draw ended the process."""
        try:
            reply = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            reply = ("died", self._process.wait())
        self._asked.popleft()
        if reply[0] == "died":
            self._start()
            if self._asked:
                self._send(list(self._asked))
        return reply

    def close(self) -> None:
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()


if __name__ == "__main__":
    main(sys.argv[1])
