"""Runs PyTorch's own ``distributed_test.py`` as it is, with nccl, after ``transfer_to_npu``.

    python tests/distributed/pytorch_cases.py [--part K/N] [--results FILE] [NAME ...]

Without names, every case but the exceptions; each with two ranks, and with four if it asks for more than two. RESULTS
becomes JSON: name -> [outcome, text], outcome one of passed, failed, skipped. Prints how many ran, passed, failed and
were skipped, and ends with 1 if one failed. Ranks are forked after the imports, which take longer than most cases.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from collections import Counter
from pathlib import Path

from pytorch_exceptions import EXCEPTIONS

Outcomes = dict[str, list[str]]

# Seconds: a case that takes so long hangs.
LONGEST = 120
RANKS = (2, 4)
# How a case says that it is for more ranks.
WANTS_MORE = re.compile(r"world size of \d|at least \d CUDA devices")


def set_environment(ranks: int, folder: str) -> None:
    """What PyTorch's run_test.py sets for these tests, and the number of this host's ranks, as torchrun does."""
    for name in ("barrier", "init_dir", "test_dir"):
        (Path(folder) / name).mkdir()
    os.environ.update(
        BACKEND="nccl",
        WORLD_SIZE=str(ranks),
        LOCAL_WORLD_SIZE=str(ranks),
        TEMP_DIR=folder,
        DISTRIBUTED_TESTS_DEFAULT_TIMEOUT=str(LONGEST),
    )
    tempfile.tempdir = folder  # cases leave files behind


def load() -> type[unittest.TestCase]:
    """PyTorch's cases as one class."""
    import torch

    from torch_npu.contrib import transfer_to_npu  # noqa: F401

    # Cases of send and receive ask for the NCCL that brought them; hccl has them.
    torch.cuda.nccl.version = lambda: (2, 27, 0)
    from torch.testing._internal.distributed import distributed_test

    class TestDistributedBackend(
        distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase
    ):
        def setUp(self) -> None:
            super().setUp()
            self._start_processes(torch.multiprocessing.get_context("fork").Process)

    return TestDistributedBackend


def run_case(case: unittest.TestCase) -> list[str]:
    """Outcome and text of one case."""
    result = unittest.TestResult()
    unittest.TestSuite([case]).run(result)
    if broken := [*result.errors, *result.failures]:
        return ["failed", "\n".join(text for _, text in broken)]
    if result.skipped:
        return ["skipped", result.skipped[0][1]]
    return ["passed", ""]


def chosen(cases: type[unittest.TestCase], names: list[str], part: str) -> list[str]:
    """The named cases or all but the exceptions; of these, those of ``part``, ``K/N``.

    Raises:
        ValueError: an exception is no case.
    """
    all_names = unittest.defaultTestLoader.getTestCaseNames(cases)
    if unknown := sorted(set(EXCEPTIONS) - set(all_names)):
        raise ValueError(f"exceptions that are no cases: {', '.join(unknown)}")
    number, parts = (int(text) for text in part.split("/"))
    wanted = names or [name for name in all_names if name not in EXCEPTIONS]
    return [name for name in wanted if zlib.crc32(name.encode()) % parts == number % parts]


def run_here(ranks: int, names: list[str], part: str, results: Path) -> None:
    """Runs cases with ``ranks`` ranks."""
    with tempfile.TemporaryDirectory() as folder:
        set_environment(ranks, folder)
        cases = load()
        outcomes: Outcomes = {}
        for name in chosen(cases, names, part):
            began = time.monotonic()
            outcomes[name] = run_case(cases(name))
            seconds = time.monotonic() - began
            print(f"{outcomes[name][0]} {name} {seconds:.1f} s", file=sys.stderr, flush=True)
    results.write_text(json.dumps(outcomes, indent=1))


def run_all(names: list[str], part: str) -> Outcomes:
    """Runs cases with two ranks, then those for more with four, each in a process of its own."""
    outcomes: Outcomes = {}
    for ranks in RANKS:
        with tempfile.NamedTemporaryFile() as results:
            arguments = ["--part", part, "--ranks", str(ranks), "--results", results.name]
            subprocess.run([sys.executable, __file__, *arguments, *names], check=True)
            outcomes |= json.loads(Path(results.name).read_text())
        names = [
            name
            for name, (outcome, text) in outcomes.items()
            if outcome == "skipped" and WANTS_MORE.search(text)
        ]
        if not names:
            break
    return outcomes


def summary(outcomes: Outcomes) -> str:
    """The counts in one line."""
    counts = Counter(outcome for outcome, _ in outcomes.values())
    ran = counts["passed"] + counts["failed"]
    return (
        f"distributed_test.py: {ran} cases ran, {counts['passed']} passed, {counts['failed']} failed, "
        f"{counts['skipped']} skipped; {len(EXCEPTIONS)} exceptions"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="1/1", metavar="K/N")
    parser.add_argument("--ranks", type=int, help="only with so many ranks")
    parser.add_argument("--results", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.ranks:
        run_here(options.ranks, options.names, options.part, options.results)
        return
    outcomes = run_all(options.names, options.part)
    if options.results:
        options.results.write_text(json.dumps(outcomes, indent=1))
    print(summary(outcomes))
    sys.exit(any(outcome == "failed" for outcome, _ in outcomes.values()))


if __name__ == "__main__":
    main()
