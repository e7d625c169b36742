"""How the time and memory of atc and of loading grow with a model's nodes."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from results import Measured

PACKAGE = Path(__file__).resolve().parents[1] / "build/python/torch_npu"
COUNTS = (1_000, 10_000, 100_000, 1_000_000)
_LOAD = """
import ctypes, sys
acl = ctypes.CDLL(sys.argv[1])
model = ctypes.c_uint32()
codes = [acl.aclInit(None), acl.aclrtSetDevice(0)]
codes.append(acl.aclmdlLoadFromFile(sys.argv[2].encode(), ctypes.byref(model)))
sys.exit(max(codes))
"""


def _model(count: int, path: Path) -> None:
    """A chain of sums, each with one of a hundred constants, and of absolute values."""
    constants = [numpy_helper.from_array(np.full(16, i, np.float32), f"c{i}") for i in range(100)]
    names = ["x", *(f"v{i}" for i in range(1, count)), "y"]
    nodes = [
        helper.make_node("Add", [names[i], f"c{i % 100}"], [names[i + 1]])
        if i % 2
        else helper.make_node("Abs", [names[i]], [names[i + 1]])
        for i in range(count)
    ]
    ends = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [16]) for name in "xy")
    graph = helper.make_graph(nodes, "chain", *([end] for end in ends), constants)
    path.write_bytes(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9
        ).SerializeToString()
    )


# A process counts the memory of the one that started it as its own: a small one is in between.
_MEASURE = """
import os, sys
number = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(number, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)
"""


def _cost(command: list[str | Path]) -> tuple[float, int]:
    """Seconds of processor time and bytes of memory of a program that must succeed."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", _MEASURE, *command], capture_output=True, text=True, check=True
    )
    code, seconds, memory = done.stdout.split()[-3:]
    if int(code) != 0:
        raise RuntimeError(f"{command[0]} ended with {code}: {done.stderr}")
    return float(seconds), int(memory)


def main(most: int = COUNTS[-1]) -> list[Measured]:
    """Prints a table; a ratio is that of the cost per node to the row before, 1 where it is linear."""
    columns = (
        "nodes",
        "atc s",
        "ratio",
        "atc MiB",
        "ratio",
        "load s",
        "ratio",
        "load MiB",
        "ratio",
    )
    print("  ".join(f"{name:>9}" for name in columns))
    nothing = {}
    with tempfile.TemporaryDirectory() as folder:
        source, om = Path(folder) / "m.onnx", Path(folder) / "m.om"
        atc = [PACKAGE / "cann/bin/atc", f"--model={source}", f"--output={om}", "--framework=5"]
        load = [sys.executable, "-c", _LOAD, PACKAGE / "lib/cann/libascendcl.so", om]
        before: list[float] = []
        for count in (1, *(count for count in COUNTS if count <= most)):
            _model(count, source)
            started = time.perf_counter()
            costs = [*_cost([*atc, "--soc_version=any"]), *_cost(load)]
            if count == 1:  # what a process costs without nodes
                nothing = dict(enumerate(costs))
                continue
            own = [max(cost - nothing[i], 0) / count for i, cost in enumerate(costs)]
            row = [f"{count:9,}"]
            for i, (cost, each) in enumerate(zip(costs, own, strict=True)):
                shown = f"{cost:9.2f}" if i % 2 == 0 else f"{cost / 2**20:9.0f}"
                ratio = each / before[i] if before and before[i] > 0 else float("nan")
                row += [shown, f"{ratio:9.2f}"]
            print("  ".join(row), f" ({time.perf_counter() - started:.0f} s)", flush=True)
            before = own
    return []


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNTS[-1])
