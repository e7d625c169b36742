"""Random calls of every operator with an aclnn entry, npu against the CPU; the judge of OpInfo decides where they differ.

python -m fuzz [--minutes N | --draws N] [--operators REGEX] [--seed N] [--replay OPERATOR:DTYPE:SEED]
"""

import argparse
import json
import re
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import torch

from fuzz.draw import DTYPES, parse
from fuzz.fuzzer import FOLDER, Fuzzer
from fuzz.recorded import UNRECORDED, entries, record, source
from fuzz.schedule import LEAST, Schedule


def recorded_calls() -> Path:
    """The file of recorded calls; it is made if it is missing, or was made from another YAML or by another recorder."""
    wanted = {"entries": sorted(entries()), "source": source()}
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"calls-{torch.__version__}.pt"
    output_of = FOLDER / "recorded.json"
    if file.exists() and output_of.exists() and json.loads(output_of.read_text()) == wanted:
        return file
    print("recording calls of PyTorch's own cases", flush=True)
    torch.save(record(set(wanted["entries"])), file)
    output_of.write_text(json.dumps(wanted))
    return file


def table(compared: Counter) -> str:
    """One row per operator with the number of its compared draws by dtype."""
    operators = sorted({operator for operator, _ in compared})
    width = max(map(len, operators), default=8)
    lines = [f"{'operator':{width}} " + " ".join(f"{dtype:>10}" for dtype in DTYPES)]
    lines += [
        f"{operator:{width}} "
        + " ".join(f"{compared[operator, dtype] or '·':>10}" for dtype in DTYPES)
        for operator in operators
    ]
    return "\n".join(lines)


def _report(fuzzer: Fuzzer, seconds: float) -> None:
    total = sum(fuzzer.compared.values())
    print(table(fuzzer.compared))
    print(
        f"{total:,} draws compared in {seconds:.0f} s ({total / max(seconds, 1e-9):.0f} a second), "
        f"{fuzzer.judged:,} of them judged, {dict(fuzzer.outcomes)}, {len(fuzzer.failures)} differ"
    )
    for why, count in fuzzer.known.most_common():
        print(f"{count:6,} {why}")
    print(f"{len(fuzzer.crashes)} draws ended the CPU's process:")
    print(dict(Counter(c["draw"].split(":")[0] for c in fuzzer.crashes)))
    unrecorded = sorted(entries() - set(fuzzer.drawer.recorded))
    print(f"{len(unrecorded)} operators have no recorded call:")
    for name in unrecorded:
        print(f"  {name}: {UNRECORDED.get(name, 'no reason is known')}")
    print(dict(Counter(f["draw"].split(":")[0] for f in fuzzer.failures).most_common()))
    (FOLDER / "crashes.json").write_text(json.dumps(fuzzer.crashes, indent=1))
    for failure in fuzzer.failures[:20]:
        print(f"{failure['draw']}\n  {failure['call'][:300]}\n  {failure['problem'][:300]}")


def main(arguments: list[str]) -> int:
    """Runs the draws; 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--draws", type=int, default=16, help="of each operator and data type")
    parser.add_argument("--operators", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    fuzzer = Fuzzer(recorded_calls())
    few: list[str] = []
    started = time.monotonic()
    if options.replay:
        name = parse(options.replay)
        print(fuzzer.drawer.draw(name))
        fuzzer.run([[name]])
    else:
        names = [n for n in sorted(fuzzer.drawer.recorded) if re.search(options.operators, n)]
        schedule = Schedule(names, options.seed, fuzzer.compared)
        if options.minutes:
            fuzzer.run(schedule.until(started + 60 * options.minutes))
            few = schedule.few()
        else:
            fuzzer.run(schedule.round(options.draws))
    _report(fuzzer, time.monotonic() - started)
    if few:
        print(f"{len(few)} pairs of operator and data type have fewer than {LEAST} compared draws:")
        print(", ".join(few))
    return 1 if fuzzer.failures or few else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
