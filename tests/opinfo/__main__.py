"""Runs PyTorch's OpInfos and ModuleInfos on npu in all dtypes and variants; results as JSON lines, resumable.

python -m opinfo --results FILE [--dtypes all|float32,...] [--variants samples,out,...] [--ops REGEX] [--shard I/N]
"""

import argparse
import json
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from modules import cases as modules
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

from opinfo import cases, variants
from opinfo.exceptions import EXCEPTIONS


@dataclass(frozen=True)
class Case:
    """One OpInfo or ModuleInfo in one dtype and variant; ``run`` returns the number of samples."""

    op: str
    dtype: torch.dtype
    variant: str
    run: Callable[[], int]

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the case in results and exceptions."""
        return self.op, str(self.dtype).removeprefix("torch."), self.variant


def all_cases(dtypes: set[str], names: set[str], pattern: str) -> list[Case]:
    """All cases that the CPU supports: operators first, then modules."""
    infos = [(op.full_name, op, variants.ALL) for op in op_db]
    infos += [(info.name, info, modules.ALL) for info in module_db]
    found = [
        Case(name, dtype, variant, lambda r=run, i=info, d=dtype: r(i, d))
        for name, info, runs in infos
        if re.search(pattern, name)
        for dtype in sorted(info.supported_dtypes("cpu"), key=str)
        for variant, run in runs.items()
    ]
    return [
        case
        for case in found
        if (not dtypes or case.key[1] in dtypes) and (not names or case.variant in names)
    ]


def run_case(case: Case) -> dict:
    """One case as a record: outcome passed, failed, refused, unsupported, not applicable or exception."""
    record: dict = dict(zip(("op", "dtype", "variant"), case.key, strict=True))
    started = time.monotonic()
    try:
        record |= {"outcome": "passed", "samples": case.run()}
    except cases.NotApplicableError:
        record["outcome"] = "not applicable"
    except cases.RefusedError as error:
        record |= {"outcome": "refused", "reason": str(error)}
    except cases.UnsupportedError as error:
        record |= {"outcome": "unsupported", "reason": str(error)[:200]}
    except Exception as error:
        known = EXCEPTIONS.get(case.key)
        record["outcome"] = "exception" if known else "failed"
        where = traceback.extract_tb(error.__traceback__)[-1]
        record["reason"] = known or f"{type(error).__name__}: {error}"[:600]
        record["where"] = f"{Path(where.filename).name}:{where.lineno}"
    record["seconds"] = round(time.monotonic() - started, 3)
    return record


def main(arguments: list[str]) -> int:
    """Runs the shard; 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m opinfo", description=__doc__)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--dtypes", default="all")
    parser.add_argument("--variants", default="all")
    parser.add_argument("--ops", default="")
    parser.add_argument("--shard", default="0/1")
    options = parser.parse_args(arguments)
    dtypes, names = (
        set() if given == "all" else set(given.split(","))
        for given in (options.dtypes, options.variants)
    )
    todo = all_cases(dtypes, names, options.ops)
    index, count = map(int, options.shard.split("/"))
    todo = todo[index::count]
    done = {}
    if options.results.exists():
        for line in options.results.read_text().splitlines():
            record = json.loads(line)
            done[record["op"], record["dtype"], record["variant"]] = record["outcome"]
    with options.results.open("a") as file:
        for case in todo:
            if case.key in done:
                continue
            record = run_case(case)
            done[case.key] = record["outcome"]
            print(json.dumps(record), file=file, flush=True)
    outcomes = Counter(done.values())
    print(", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items())))
    return 1 if outcomes["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
