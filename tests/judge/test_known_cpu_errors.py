"""Each entry of known_cpu_errors is one: shown on the CPU alone."""

import pytest
import torch
from fuzz.draw import Drawn
from fuzz.known_cpu_errors import KNOWN, known_cpu_error

ATEN = torch.ops.aten
PROVEN = {"div", "fmod", "remainder", "floor_divide", "hardsigmoid_backward", "mish_backward"}


def test_every_entry_has_a_proof_here():
    assert set(KNOWN) == PROVEN


@pytest.mark.parametrize("operator", ["fmod", "remainder", "floor_divide"])
def test_integer_division_by_zero_raises(operator):
    x, zero = torch.tensor([7]), torch.tensor([0])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        getattr(torch, operator)(x, zero)
    overload = (
        f"aten.{operator}.default" if operator == "floor_divide" else f"aten.{operator}.Tensor"
    )
    assert known_cpu_error(operator, Drawn(overload, (x, zero), {}))
    assert not known_cpu_error(operator, Drawn(overload, (x, x), {}))
    assert not known_cpu_error(operator, Drawn(overload, (x.float(), zero.float()), {}))


def test_integer_div_by_zero_raises():
    x, zero = torch.tensor([7]), torch.tensor([0])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.div(x, zero, rounding_mode="floor")
    call = Drawn("aten.div.Tensor_mode", (x, zero), {"rounding_mode": "floor"})
    assert known_cpu_error("div", call)


def test_a_sixth_is_a_float32_number():
    one = torch.ones(1, dtype=torch.float64)
    wrong = ATEN.hardsigmoid_backward(one, one * 0).item()
    assert wrong == torch.tensor(1 / 6, dtype=torch.float32).item()
    assert abs(wrong - 1 / 6) > 1e-9
    assert known_cpu_error("hardsigmoid_backward", Drawn("", (one, one), {}))
    assert not known_cpu_error("hardsigmoid_backward", Drawn("", (one.float(), one.float()), {}))


def test_mish_of_infinity_has_no_nan():
    large, infinite = torch.full((20,), 1e30), torch.full((20,), float("inf"))
    one = torch.ones(20)
    assert (ATEN.mish_backward(one, large) == 1).all()
    assert ATEN.mish_backward(one, infinite).isnan().all()
    assert known_cpu_error("mish_backward", Drawn("", (one, infinite), {}))
    assert not known_cpu_error("mish_backward", Drawn("", (one, large), {}))
    assert not known_cpu_error("mish_backward", Drawn("", (one, -infinite), {}))
