"""The official torch_npu wheel's process group on softnpu's libhccl. Run by `./dev oracle`, in the wheel's own venv."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

RANK = Path(__file__).with_name("distributed_rank.py")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def train(ranks):
    """The losses of all ranks, as each prints them."""
    job = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": str(ranks),
        "LOCAL_RANK": "0",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-P", RANK],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **job, "RANK": str(rank)},
        )
        for rank in range(ranks)
    ]
    losses = []
    try:
        for process in processes:
            message, _ = process.communicate(timeout=180)
            assert process.returncode == 0, message
            (line,) = [line for line in message.splitlines() if line.startswith("losses")]
            losses.append(json.loads(line[len("losses") : line.index("]") + 1]))
    finally:
        for process in processes:
            process.kill()
    return losses


def test_training_in_two_processes_has_the_losses_of_one():
    (alone,) = train(1)
    for losses in train(2):
        assert losses == pytest.approx(alone, rel=1e-6)
    assert alone[-1] < alone[0]
