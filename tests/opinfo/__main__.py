"""Runs PyTorch's OpInfos on npu in all dtypes and variants; results as JSON lines, one a case, resumable.

python -m opinfo --results FILE [--dtypes all|float32,...] [--variants samples,out,...] [--ops REGEX] [--shard I/N]
"""

import argparse
import json
import re
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import torch
from torch.testing._internal.common_methods_invocations import op_db

from opinfo import cases, variants
from opinfo.exceptions import EXCEPTIONS


def all_cases(dtypes: set[str], names: list[str], pattern: str) -> list[tuple]:
    """(op, dtype, variant) of everything that the CPU supports."""
    found = []
    for op in op_db:
        if not re.search(pattern, op.full_name):
            continue
        for dtype in sorted(op.supported_dtypes("cpu"), key=str):
            if not dtypes or str(dtype).removeprefix("torch.") in dtypes:
                found += [(op, dtype, name) for name in names]
    return found


def run_case(op, dtype: torch.dtype, variant: str) -> dict:
    """One case as a record: outcome passed, failed, unsupported, not applicable or exception."""
    record = {"op": op.full_name, "dtype": str(dtype).removeprefix("torch."), "variant": variant}
    started = time.monotonic()
    try:
        record |= {"outcome": "passed", "samples": variants.ALL[variant](op, dtype)}
    except variants.NotApplicableError:
        record["outcome"] = "not applicable"
    except cases.UnsupportedError as error:
        record |= {"outcome": "unsupported", "reason": str(error)[:200]}
    except Exception as error:
        key = (record["op"], record["dtype"], variant)
        known = EXCEPTIONS.get(key)
        record["outcome"] = "exception" if known else "failed"
        where = traceback.extract_tb(error.__traceback__)[-1]
        record["reason"] = known or f"{type(error).__name__}: {error}"[:600]
        record["where"] = f"{Path(where.filename).name}:{where.lineno}"
    record["seconds"] = round(time.monotonic() - started, 3)
    return record


def main(arguments: list[str]) -> int:
    """Runs the shard; 0 where nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m opinfo", description=__doc__)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--dtypes", default="all")
    parser.add_argument("--variants", default=",".join(variants.ALL))
    parser.add_argument("--ops", default="")
    parser.add_argument("--shard", default="0/1")
    options = parser.parse_args(arguments)
    dtypes = set() if options.dtypes == "all" else set(options.dtypes.split(","))
    todo = all_cases(dtypes, options.variants.split(","), options.ops)
    index, count = map(int, options.shard.split("/"))
    todo = todo[index::count]
    done = {}
    if options.results.exists():
        for line in options.results.read_text().splitlines():
            record = json.loads(line)
            done[record["op"], record["dtype"], record["variant"]] = record["outcome"]
    with options.results.open("a") as file:
        for op, dtype, variant in todo:
            key = (op.full_name, str(dtype).removeprefix("torch."), variant)
            if key in done:
                continue
            record = run_case(op, dtype, variant)
            done[key] = record["outcome"]
            print(json.dumps(record), file=file, flush=True)
    outcomes = Counter(done.values())
    print(", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items())))
    return 1 if outcomes["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
