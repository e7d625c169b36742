"""Every operator of ATen without an OpInfo is called once, with arguments drawn from its schema: npu gives what the CPU
gives."""

import pytest
import torch

from schemas.calls import difference, run_on_cpu, run_on_npu
from schemas.draw import all_wanted, drawn, without_opinfo
from schemas.search import table

FOUND, REASONS = table()
NAMES = without_opinfo()
# What npu does otherwise than the CPU, with the reason.
DIFFERS: dict[str, str] = {}


def test_the_table_has_every_overload():
    known = {*FOUND, *REASONS}
    assert known == set(all_wanted()), "run tests/schemas/search.py --write"


def test_counts(capsys):
    called = [name for name in NAMES if name in FOUND]
    operators = {name.split(".")[1] for name in NAMES}
    reached = {name.split(".")[1] for name in called}
    covered = {
        name.split(".")[1] for name in NAMES if REASONS.get(name) == "PyTorch's own cases call it"
    }
    with capsys.disabled():
        print(
            f"\n{len(NAMES)} overloads of {len(operators)} operators without an OpInfo: {len(called)} overloads of "
            f"{len(reached)} operators called, {len(covered - reached)} more called by PyTorch's cases, "
            f"{len(operators - reached - covered)} not, with reasons in tests/schemas/arguments.txt"
        )
    assert len(called) > 700
    assert all(REASONS[name] for name in NAMES if name not in FOUND)


@pytest.mark.parametrize("name", [name for name in NAMES if name in FOUND])
def test_npu_gives_what_the_cpu_gives(name):
    if name in DIFFERS:
        pytest.skip(DIFFERS[name])
    call = drawn(name, FOUND[name])
    torch.manual_seed(0)
    expected = run_on_cpu(call)
    assert not difference(call, expected, run_on_npu(call)), call
