"""Random calls of every operator with an aclnn entry, npu against the CPU; float64 decides where the two differ.

python -m fuzz [--minutes N | --draws N] [--operators REGEX] [--seed N] [--replay OPERATOR:SEED]
"""

import argparse
import json
import re
import sys
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import torch

from fuzz.compare import References, problem
from fuzz.draw import UNSEEN, Drawer, Drawn
from fuzz.indices import same_choice
from fuzz.known_cpu_errors import known_cpu_error
from fuzz.recorded import ROOT, entries, record
from fuzz.side import REFUSALS, CpuSide, packed, run, unpacked

FOLDER = ROOT / "build" / "fuzz"
BATCH = 32
# The draw that runs: what to replay where the process ended within it.
LAST = FOLDER / "last.txt"
# Draws for whose data types or layouts the CPU has no kernel say nothing about npu.
NO_KERNEL = (
    "not implemented for", "unsupported ScalarType", "not supported", "is not implemented", "expected scalar type",
    "itensor_view_from_dense", "could not create a primitive", "must be contiguous", "same dtype",
)  # fmt: skip


def recorded_calls() -> Path:
    """The file of recorded calls; made where it is not there or the YAML has other entries."""
    wanted = entries()
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"calls-{torch.__version__}.pt"
    names = FOLDER / "entries.json"
    if file.exists() and names.exists() and json.loads(names.read_text()) == sorted(wanted):
        return file
    print("recording calls of PyTorch's own cases", flush=True)
    torch.save(record(wanted), file)
    names.write_text(json.dumps(sorted(wanted)))
    return file


class Fuzzer:
    """Runs draws on both sides and counts."""

    def __init__(self, calls: Path):
        self.drawer = Drawer(torch.load(calls, weights_only=False))
        self.cpu = CpuSide(calls)
        self.compared: dict[str, Counter] = defaultdict(Counter)
        self.outcomes: Counter = Counter()
        self.failures: list[dict] = []
        self.crashes: list[dict] = []  # of the CPU's process
        self.known: Counter = Counter()
        self.references: CpuSide | None = None

    def batch(self, operator: str, seeds: range) -> None:
        """Runs the draws of ``seeds``."""
        self.cpu.ask([(operator, seed, "plain") for seed in seeds])
        for seed in seeds:
            call = self.drawer.draw(operator, seed)
            expected = self.cpu.next()
            if expected[0] == "died":
                # npu may have the same kernel on its AI CPU: what kills the CPU's process is not run here.
                self.crashes.append({"draw": f"{operator}:{seed}", "call": str(call)})
                self.batch(operator, range(seed + 1, seeds.stop))
                return
            LAST.write_text(f"{operator}:{seed}\n{call}\n")
            self._judge(operator, seed, call, expected, _attempt(call))

    def _judge(self, operator: str, seed: int, call: Drawn, expected: tuple, actual: tuple) -> None:
        if expected[0] == "refused":
            if actual[0] == "refused":
                self.outcomes["refused"] += 1
            elif any(text in expected[1] for text in NO_KERNEL):
                self.outcomes["CPU has no kernel"] += 1
            else:
                self._fail(
                    operator, seed, call, f"the CPU refuses it ({expected[1][:200]}), npu does not"
                )
            return
        self.compared[operator][call.dtype] += 1
        if actual[0] == "refused":
            self._fail(operator, seed, call, f"npu refuses it: {actual[1][:300]}")
            return

        theirs, ours = unpacked(expected[1]), unpacked(actual[1])
        for name, index in UNSEEN:
            if name == operator:
                theirs[index] = ours[index]

        def ask(kind: str) -> list | None:
            return self._again(operator, seed, kind)

        references = References(ask, lambda: _magnitude(operator, call))
        text = problem(theirs, ours, references)
        if not text or same_choice(operator, call, theirs, ours):
            return
        dense = ask("dense")
        if dense is not None and not problem(dense, ours, references):
            self.known[
                f"{operator}: the CPU gives another result for dense copies, it misreads strides"
            ] += 1
            return
        self._fail(operator, seed, call, text)

    def _again(self, operator: str, seed: int, kind: str) -> list | None:
        """The same draw in another way on the CPU, in a process beside the one whose answers are still to come."""
        if self.references is None:
            self.references = CpuSide(self.cpu.calls)
        self.references.ask([(operator, seed, kind)])
        outcome, values = self.references.next()
        return unpacked(values) if outcome == "results" else None

    def _fail(self, operator: str, seed: int, call: Drawn, text: str) -> None:
        if why := known_cpu_error(operator, call):
            self.known[why] += 1
            return
        self.failures.append({"draw": f"{operator}:{seed}", "call": str(call), "problem": text})


def _attempt(call: Drawn) -> tuple:
    try:
        torch.manual_seed(0)
        return ("results", packed(run(call, "npu")))
    except REFUSALS as error:
        return ("refused", f"{type(error).__name__}: {error}")


# Elementwise functions with a factor like 1 + tanh(u): it cancels, so that they are off by roundings of their operands.
CANCELLING = {"gelu", "gelu_backward", "silu_backward", "mish_backward", "hardswish_backward"}


def _magnitude(operator: str, call: Drawn) -> float:
    """What a result is off by in roundings: four of its terms, each as large as the operands' product at most."""
    cancels = operator in CANCELLING
    if torch.Tag.pointwise in call.function.tags and not cancels:
        return 0.0
    leaves = torch.utils._pytree.tree_leaves((call.args, call.kwargs))
    floats = [
        t for t in leaves if isinstance(t, torch.Tensor) and t.is_floating_point() and t.numel()
    ]
    if not floats:
        return 0.0
    terms = 1 if cancels else max(max(t.shape, default=1) for t in floats)
    largest = 1.0
    for t in floats:
        largest *= max(1.0, float(t.double().abs().nan_to_num(0, 0, 0).max()))
    return 4 * terms * min(largest, 1e300)


def table(fuzzer: Fuzzer, least: int) -> tuple[str, int]:
    """A row an operator with compared draws by dtype; how many pairs have fewer than ``least``."""
    dtypes = sorted({dtype for counts in fuzzer.compared.values() for dtype in counts})
    width = max((len(name) for name in fuzzer.compared), default=8)
    lines = [f"{'operator':{width}} " + " ".join(f"{dtype:>8}" for dtype in dtypes)]
    few = 0
    for name, counts in sorted(fuzzer.compared.items()):
        few += sum(0 < counts[dtype] < least for dtype in dtypes)
        lines.append(
            f"{name:{width}} " + " ".join(f"{counts[dtype] or '·':>8}" for dtype in dtypes)
        )
    return "\n".join(lines), few


def main(arguments: list[str]) -> int:
    """Runs; 0 where nothing failed."""
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--draws", type=int, default=64, help="of each operator")
    parser.add_argument("--operators", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    fuzzer = Fuzzer(recorded_calls())
    if options.replay:
        operator, seed = options.replay.split(":")
        print(fuzzer.drawer.draw(operator, int(seed)))
        fuzzer.batch(operator, range(int(seed), int(seed) + 1))
    else:
        names = [n for n in sorted(fuzzer.drawer.recorded) if re.search(options.operators, n)]
        started, seed = time.monotonic(), options.seed
        while True:
            for name in names:
                fuzzer.batch(name, range(seed, seed + BATCH))
            seed += BATCH
            spent = (time.monotonic() - started) / 60
            if (
                spent >= options.minutes
                if options.minutes
                else seed - options.seed >= options.draws
            ):
                break
    text, few = table(fuzzer, 200 if options.minutes else 0)
    print(text)
    total = sum(sum(counts.values()) for counts in fuzzer.compared.values())
    print(f"{total:,} draws compared, {dict(fuzzer.outcomes)}, {len(fuzzer.failures)} differ")
    for why, count in fuzzer.known.most_common():
        print(f"{count:6,} {why}")
    by_operator = Counter(f["draw"].split(":")[0] for f in fuzzer.failures)
    print(dict(by_operator.most_common()))
    print(f"{len(fuzzer.crashes)} draws ended the CPU's process:")
    print(dict(Counter(c["draw"].split(":")[0] for c in fuzzer.crashes)))
    (FOLDER / "failures.json").write_text(json.dumps(fuzzer.failures, indent=1))
    for failure in fuzzer.failures[:20]:
        print(f"{failure['draw']}\n  {failure['call'][:300]}\n  {failure['problem'][:300]}")
    if few:
        print(f"{few} pairs of operator and data type have fewer than 200 compared draws")
    return 1 if fuzzer.failures or few else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
