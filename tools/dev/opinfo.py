"""`./dev test --part opinfo`: PyTorch's OpInfos and ModuleInfos, all dtypes and variants, on all cores, resumable."""

import json
import os
import subprocess
import time
from collections import Counter
from pathlib import Path

from dev.paths import BUILD, PYTHON, ROOT
from dev.run import DevError, say

RESULTS = BUILD / "opinfo"
OUTCOMES = ("passed", "failed", "exception", "refused", "unsupported", "not applicable")


def _records(shards: int) -> list[dict]:
    return [
        json.loads(line)
        for file in sorted(RESULTS.glob(f"shard-*-of-{shards}.jsonl"))
        for line in file.read_text().splitlines()
    ]


def _forget_failures(file: Path) -> None:
    """Removes failures from the results, so that these cases run again."""
    if file.exists():
        kept = [line for line in file.read_text().splitlines() if '"outcome": "failed"' not in line]
        file.write_text("".join(f"{line}\n" for line in kept))


def _table(records: list[dict]) -> str:
    counts: dict[str, Counter] = {}
    for record in records:
        counts.setdefault(record["variant"], Counter())[record["outcome"]] += 1
    lines = [f"{'variant':22}" + "".join(f"{outcome:>15}" for outcome in OUTCOMES)]
    for variant, counter in counts.items():
        lines.append(f"{variant:22}" + "".join(f"{counter[outcome]:>15,}" for outcome in OUTCOMES))
    return "\n".join(lines)


def opinfo(part: tuple[int, int] = (0, 1)) -> None:
    """Runs the cases of ``part`` (index, number of parts) without a result; the results are in build/opinfo/*.jsonl.

    Raises DevError with the first failure if a case failed.
    """
    newest = max(
        file.stat().st_mtime_ns for file in (BUILD / "python" / "torch_npu").rglob("*.so*")
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    stamp = RESULTS / "build"
    if not stamp.exists() or stamp.read_text() != str(newest):
        for old in RESULTS.glob("*.jsonl"):
            old.unlink()  # results of another build are obsolete
        stamp.write_text(str(newest))
    jobs = os.cpu_count() or 1
    say(f"OpInfos and ModuleInfos, every dtype and variant, {jobs} processes")
    turn, parts = part
    shards = parts * jobs
    processes = []
    for index in range(jobs):
        shard = turn * jobs + index
        file = RESULTS / f"shard-{shard}-of-{shards}.jsonl"
        _forget_failures(file)
        command = [PYTHON, "-W", "ignore", "-m", "opinfo", "--results", file]
        command += ["--shard", f"{shard}/{shards}"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        processes.append(subprocess.Popen(command, cwd=ROOT / "tests", env=environment))
    while any(process.poll() is None for process in processes):
        time.sleep(10)
        print(f"\r{len(_records(shards)):,} cases done", end="", flush=True)
    print()
    records = _records(shards)
    print(_table(records))
    failed = [record for record in records if record["outcome"] == "failed"]
    ended = [process.returncode for process in processes]
    if failed or any(code not in (0, 1) for code in ended):
        first = json.dumps(failed[0], indent=1) if failed else f"exit codes {ended}"
        raise DevError(
            f"{len(failed)} cases failed; {first}\nall of them: grep failed {RESULTS}/*.jsonl"
        )
