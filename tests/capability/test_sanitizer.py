"""TORCH_NPU_SANITIZER: races between streams, each beside the program that has none."""

import os
import subprocess
import sys

import pytest
import torch

from torch_npu.npu.sanitizer import RaceError, Sanitizer


def write_then_read(side, is_right):
    x = torch.zeros(64, device="npu")
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        x.add_(1)
    if is_right:
        torch.npu.current_stream().wait_stream(side)
    (x * 2).sum()


def read_then_write(side, is_right):
    x = torch.zeros(64, device="npu")
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        y = x * 2
    if is_right:
        torch.npu.current_stream().wait_event(side.record_event())
    x.fill_(3)
    side.synchronize()
    del y


def write_twice(side, is_right):
    x = torch.zeros(64, device="npu")
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        x.fill_(1)
    if is_right:
        side.synchronize()
    x.fill_(2)


def event_too_early(side, is_right):
    x, event = torch.zeros(64, device="npu"), torch.npu.Event()
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        if not is_right:
            event.record()
        x.add_(1)
        if is_right:
            event.record()
    event.wait()
    x.neg()


def another_event(side, is_right):
    x, other = torch.zeros(64, device="npu"), torch.npu.Stream()
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        x.add_(1)
    torch.npu.current_stream().wait_stream(side if is_right else other)
    x.neg()


def freed_in_use(side, is_right):
    x = torch.zeros(64, device="npu")
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        y = x * 2
    if is_right:
        x.record_stream(side)
    del x
    torch.ones(64, device="npu")
    side.synchronize()
    del y


def overlapping_parts(side, is_right):
    x = torch.zeros(64, device="npu")
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        x[: 32 if is_right else 33].fill_(1)
    x[32:].neg()
    side.synchronize()


def copy_in_flight(side, is_right):
    host = torch.ones(64).pin_memory()
    with torch.npu.stream(side):
        x = host.to("npu", non_blocking=True)
    if is_right:
        torch.npu.synchronize()
    x.neg()
    torch.npu.synchronize()


PROGRAMS = [
    write_then_read,
    read_then_write,
    write_twice,
    event_too_early,
    another_event,
    freed_in_use,
    overlapping_parts,
    copy_in_flight,
]


def named(program):
    return program.__name__


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_a_planted_race_is_found(program):
    with Sanitizer(raises=False) as check:
        program(torch.npu.Stream(), False)
    (race,) = check.races
    if program is not freed_in_use:
        assert race.count(f"in {program.__name__}\n") == 2, race
        assert race.startswith("a race between streams on memory of a tensor float32[")
    else:
        assert "memory was freed" in race
        assert "y = x * 2" in race


@pytest.mark.parametrize("program", PROGRAMS, ids=named)
def test_none_is_found_where_there_is_none(program):
    with Sanitizer(raises=False) as check:
        program(torch.npu.Stream(), True)
    assert check.races == []


def test_a_training_step_on_one_stream_is_silent():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).npu()
    optimizer = torch.optim.Adam(model.parameters())
    with Sanitizer():
        for _ in range(2):
            model(torch.randn(4, 8).npu()).sum().backward()
            optimizer.step()
            optimizer.zero_grad()


def test_a_race_raises_before_the_operator_runs():
    x, side = torch.zeros(8, device="npu"), torch.npu.Stream()
    torch.npu.synchronize()
    with Sanitizer() as check:
        with torch.npu.stream(side):
            x.add_(1)
        with pytest.raises(RaceError, match=r"aten.fill_.Scalar writes it on stream 0 of npu:0"):
            x.fill_(5)
    assert len(check.races) == 1
    torch.npu.synchronize()
    assert x.tolist() == [1] * 8
    assert torch.npu.Event.record.__qualname__ == "_EventBase.record"


def test_the_variable_checks_a_whole_program():
    script = (
        "import torch\n"
        "x = torch.zeros(8, device='npu')\n"
        "with torch.npu.stream(torch.npu.Stream()):\n"
        "    x.add_(1)\n"
        "print('not reached')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TORCH_NPU_SANITIZER": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0
    assert "RaceError: a race between streams" in done.stderr
    assert "not reached" not in done.stdout
