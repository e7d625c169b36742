"""Programs started by torchrun, accelerate and multiprocessing, against one process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from ranks import LONGEST
from torch import nn

PROGRAMS = Path(__file__).with_name("programs")


def _losses_of_one_process():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).npu()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(8, 8).npu(), torch.randn(8, 1).npu()
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _run(*command, **variables):
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _check(output):
    losses = [float(text) for text in re.findall(r"loss (\S+) on npu:0", output)]
    assert losses == pytest.approx(_losses_of_one_process(), rel=1e-6, abs=1e-6)


def test_torchrun_runs_a_program_for_nccl():
    _check(
        _run(
            *("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"),
            str(PROGRAMS / "train.py"),
            TORCH_TRANSFER_TO_NPU="1",
        )
    )


def test_accelerate_launch():
    pytest.importorskip("accelerate")
    _check(
        _run(
            *("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes=2"),
            *("--num_machines=1", "--mixed_precision=no", "--dynamo_backend=no"),
            *("--main_process_port=0", str(PROGRAMS / "accelerated.py")),
        )
    )
