"""./dev bench gate: what it calls slower, what it calls noise."""

import argparse
import json
import random

import pytest
from dev import gate
from dev.run import DevError

BASE, HEAD = "base", "head"


def measured(factor: float, noise: float):
    choose = random.Random(1)

    def measure(side: str) -> dict[str, float]:
        slower = factor if side is HEAD else 1.0
        return {
            "step": 100 * slower * (1 + choose.uniform(-noise, noise)),
            "dispatch": 2 * (1 + choose.uniform(-noise, noise)),
        }

    return measure


@pytest.mark.parametrize(("factor", "noise"), [(1.2, 0.0), (1.2, 0.02), (1.05, 0.005)])
def test_a_slower_build_is_refused(factor, noise, tmp_path, capsys):
    path = tmp_path / "gate.json"
    with pytest.raises(DevError, match=r"slower than the base: step$"):
        gate.gate(BASE, HEAD, path, measured(factor, noise))
    assert "| step | 100" in capsys.readouterr().out or noise
    (dispatch, step) = json.loads(path.read_text())
    assert step["ratio"] == pytest.approx(factor, rel=2 * noise + 1e-9)
    assert dispatch["bound"] >= gate.LEAST_BOUND


@pytest.mark.parametrize(("factor", "noise"), [(1.0, 0.0), (1.0, 0.1), (1.02, 0.0), (0.8, 0.01)])
def test_noise_and_faster_builds_pass(factor, noise, tmp_path):
    path = tmp_path / "gate.md"
    gate.gate(BASE, HEAD, path, measured(factor, noise))
    assert "SLOWER" not in path.read_text()


def test_both_sides_are_first_in_turn():
    order = []

    def measure(side: str) -> dict[str, float]:
        order.append(side)
        return {"step": 1.0}

    gate.gate(BASE, HEAD, None, measure)
    assert order[:4] == [BASE, HEAD, HEAD, BASE]
    assert order.count(BASE) == order.count(HEAD) == gate.ROUNDS


def test_bad_input(tmp_path):
    with pytest.raises(argparse.ArgumentTypeError, match=r"has no build: run ./dev build there"):
        gate.checkout(str(tmp_path))
    with pytest.raises(DevError, match="no work in common"):
        gate.judged([{"a": 1.0}], [{"b": 1.0}])
