"""The CPU's side of draws, in a process of its own: a crash there ends nothing here.

python -m fuzz.side CALLS: reads requests from standard input and writes answers to standard output, as pickles.
"""

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import torch
from torch.utils._pytree import tree_leaves, tree_map

from fuzz.draw import Drawer, Drawn

WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
# What ATen's operators raise for arguments that they refuse.
REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)


def clone(t: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides over a copy of the same storage."""
    whole = torch.empty(0, dtype=t.dtype, device=t.device).set_(t.untyped_storage())
    return whole.clone().as_strided(t.size(), t.stride(), t.storage_offset())


def _widened(x: torch.Tensor, *, integers: bool, nudge: bool) -> torch.Tensor:
    rounding = torch.finfo(x.dtype if x.dtype.is_floating_point else torch.float32).eps
    if x.dtype in WIDER:
        x = x.to(WIDER[x.dtype])
    elif integers and not x.dtype.is_complex and x.dtype != torch.bool:
        x = x.to(torch.float64)
    elif not x.dtype.is_floating_point:
        return clone(x)
    return x * (1 + rounding) if nudge else clone(x)


def run(call: Drawn, device: str = "cpu", kind: str = "plain") -> list:
    """The results and, behind them, the tensors that were arguments.

    ``kind``: plain; on the CPU also wide, nudged, dense (see `compare.References`).
    """
    wide = kind in ("wide", "nudged")
    tensors = [x for x in tree_leaves((call.args, call.kwargs)) if isinstance(x, torch.Tensor)]
    # A function of integers that gives floating numbers takes them as such.
    integers = wide and not any(t.is_floating_point() or t.is_complex() for t in tensors)

    def move(x):
        if isinstance(x, torch.Tensor):
            if device != "cpu":
                whole = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
                return whole.to(device).as_strided(x.size(), x.stride(), x.storage_offset())
            if kind == "dense":
                return x.clone(memory_format=torch.contiguous_format)
            return _widened(x, integers=integers, nudge=kind == "nudged") if wide else clone(x)
        return WIDER.get(x, x) if wide and isinstance(x, torch.dtype) else x

    args, kwargs = tree_map(move, (call.args, call.kwargs))
    result = call.function(*args, **kwargs)
    given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    return [*tree_leaves(result), *given]


def packed(values: list) -> list:
    """Tensors as dtype, shape and bytes."""
    return [_pack(v) if isinstance(v, torch.Tensor) else v for v in values]


def _pack(t: torch.Tensor) -> tuple:
    t = t.detach().cpu().resolve_conj().resolve_neg().contiguous()
    return ("tensor", t.dtype, tuple(t.shape), t.reshape(-1).view(torch.uint8).numpy().tobytes())


def unpacked(values: list) -> list:
    """What `packed` was made of."""
    return [_unpack(v) if isinstance(v, tuple) else v for v in values]


def _unpack(v: tuple) -> torch.Tensor:
    _, dtype, shape, content = v
    if not content:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(content), dtype=dtype).reshape(shape)


def answer(drawer: Drawer, operator: str, seed: int, kind: str) -> tuple:
    """``("results", …)`` or ``("refused", text)`` for one draw."""
    call = drawer.draw(operator, seed)
    try:
        torch.manual_seed(0)
        return ("results", packed(run(call, kind=kind)))
    except REFUSALS as error:
        return ("refused", f"{type(error).__name__}: {error}")


def main(calls: str) -> None:
    """Answers until its input ends."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    drawer = Drawer(torch.load(calls, weights_only=False))
    while True:
        try:
            requests = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        for operator, seed, kind in requests:
            pickle.dump(answer(drawer, operator, seed, kind), sys.stdout.buffer)
            sys.stdout.buffer.flush()


class CpuSide:
    """The other process; one that died is started again."""

    def __init__(self, calls: Path):
        self.calls = calls
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "fuzz.side", str(self.calls)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        )

    def ask(self, requests: list[tuple[str, int, str]]) -> None:
        """Sends draws to be run, in this order."""
        pickle.dump(requests, self._process.stdin)
        self._process.stdin.flush()

    def next(self) -> tuple:
        """The next answer; ``("died", code)`` where the process did, which ends the requests that were sent."""
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            self._start()
            return ("died", code)

    def close(self) -> None:
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()


if __name__ == "__main__":
    main(sys.argv[1])
