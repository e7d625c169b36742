"""Calls operators on npu with tensors that repeat one element many times, under a limit of memory.

python -m schemas.expanded SIZE: reads overloads from standard input; writes "try NAME" before each call and
"NAME OUTCOME" after it.
"""

import resource
import sys

from schemas import children


def _expanded(call, size):
    """The call with each tensor that has the first one's sizes expanded to ``size`` elements."""
    import torch
    from fuzz.draw import Drawn
    from torch.utils._pytree import tree_map

    first = next((t for t in call.tensors if t.dim() > 0 and t.numel() > 0), None)
    if first is None:
        return None
    shape, location = first.shape, 0 if size < 2**40 else first.dim() - 1
    wanted = [size if d == location else 1 for d in range(first.dim())]

    def one(x):
        if not isinstance(x, torch.Tensor) or x.shape != shape or x.layout != torch.strided:
            return x
        return x.reshape(-1)[:1].reshape([1] * x.dim()).expand(wanted)

    args, kwargs = tree_map(one, (call.args, call.kwargs))
    return Drawn(call.name, args, kwargs)


def _call_all(names: list[str], size: int) -> None:
    import torch
    from fuzz.run import results
    from torch.utils._pytree import tree_map

    from schemas.draw import drawn
    from schemas.search import table

    found, _ = table()

    def move(x):
        if isinstance(x, torch.device):
            return torch.device("npu", 0)
        if not isinstance(x, torch.Tensor):
            return x
        if 0 in x.stride() and x.numel() > 2**20:
            return x.as_strided([1] * x.dim(), [1] * x.dim()).npu().expand(x.shape)
        return x.npu()

    for name in names:
        call = _expanded(drawn(name, found[name]), size)
        if call is None:
            continue
        print("try", name, flush=True)
        try:
            args, kwargs = tree_map(move, (call.args, call.kwargs))
            results(call, args, kwargs)
            torch.npu.synchronize()
            outcome = "result"
        except torch.OutOfMemoryError:
            outcome = "OutOfMemoryError"
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
            outcome = type(error).__name__
        print(name, outcome, flush=True)
        assert (torch.ones(2, device="npu") + 1).tolist() == [2, 2]


def outcomes(names: list[str], size: int, seconds: float) -> dict[str, str]:
    """What each call ended with: "result", an exception's name, or how the process ended. Calls of no tensor with
    elements are left out."""
    env = {"SOFTNPU_HBM": "1073741824", "OMP_NUM_THREADS": "2"}
    return children.outcomes("schemas.expanded", names, str(size), seconds=seconds, env=env)


if __name__ == "__main__":
    limit = 12 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _call_all(sys.stdin.read().split(), int(sys.argv[1]))
