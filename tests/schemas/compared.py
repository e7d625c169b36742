"""Calls operators on the CPU and on npu with arguments drawn from their schemas, and compares.

python -m schemas.compared: reads overloads from standard input; writes "try NAME" before each call and "NAME DIFFERENCE"
after it, the difference empty if there is none.
"""

import sys
import warnings

SEED = 0


def _call_all(names: list[str]) -> None:
    import torch

    from schemas.calls import difference, run_on_cpu, run_on_npu
    from schemas.draw import drawn
    from schemas.search import table

    warnings.simplefilter("ignore")
    found, _ = table()
    for name in names:
        print("try", name, flush=True)
        call = drawn(name, found[name])
        torch.manual_seed(SEED)
        expected = run_on_cpu(call)
        try:
            problem = difference(call, expected, run_on_npu(call))
        except RuntimeError as error:
            problem = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        print(name, " ".join(problem.split()), flush=True)


if __name__ == "__main__":
    _call_all(sys.stdin.read().split())
