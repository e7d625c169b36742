"""PyTorch's own cases of torch.distributed, with nccl after ``transfer_to_npu``; the option --shard says which part."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("pytorch_cases.py")
# Seconds: what all cases take on a busy machine.
LONGEST = 1200


def test_every_case_passes_or_is_an_exception(pytestconfig, tmp_path):
    results = tmp_path / "results.json"
    part = pytestconfig.getoption("--shard")
    done = subprocess.run(
        [sys.executable, PROGRAM, "--part", part, "--results", results],
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert results.exists(), done.stderr[-4000:]
    outcomes = json.loads(results.read_text())
    failed = [
        f"{name}:\n{text}" for name, (outcome, text) in outcomes.items() if outcome == "failed"
    ]
    assert not failed, "\n".join(failed)
    assert done.returncode == 0, done.stderr[-4000:]
    passed = sum(outcome == "passed" for outcome, _ in outcomes.values())
    # A sixth of the cases at least; more than half are for the CPU, other backends or more devices.
    assert passed >= len(outcomes) / 6
    print(done.stdout)
