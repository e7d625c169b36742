"""The formulas of tolerances: by kind of operator, data type and number of terms."""

import pytest
import torch

from torch_npu.accuracy import Kind, Tolerance, compare, tolerance_of

EPS = {t: torch.finfo(t).eps for t in (torch.float32, torch.float16, torch.complex64)}


def test_selections_and_integers_have_none():
    assert tolerance_of(Kind.SELECTION, torch.float32) == Tolerance()
    for kind in Kind:
        assert tolerance_of(kind, torch.int32, terms=9) == Tolerance()


def test_elementwise_results_have_four_units():
    found = tolerance_of(Kind.ELEMENTWISE, torch.float16)
    assert found.relative == 4 * EPS[torch.float16]
    assert found.absolute == 4 * torch.finfo(torch.float16).smallest_normal * EPS[torch.float16]


@pytest.mark.parametrize("kind", [Kind.REDUCTION, Kind.PRODUCT])
def test_sums_follow_their_terms(kind):
    step = EPS[torch.float32]
    ten = torch.tensor(10.0)
    half = tolerance_of(kind, torch.float16, terms=96, magnitude=ten)
    assert half.relative == EPS[torch.float16]
    assert half.bound(torch.zeros(())).item() == pytest.approx(100 * step * 10, rel=1e-3)
    # Half types are added in float32, unless another type is named.
    own = tolerance_of(kind, torch.float16, terms=96, magnitude=ten, accumulated=torch.float16)
    assert own.bound(torch.zeros(())).item() == pytest.approx(1000 * EPS[torch.float16])
    complex_ = tolerance_of(kind, torch.complex64, terms=96)
    assert complex_.relative == (1 + 4 * 100) * step
    assert tolerance_of(kind, torch.float32, terms=96).relative == 101 * step


def test_composed_operators_are_a_random_walk():
    found = tolerance_of(Kind.COMPOSED, torch.float32, terms=16)
    assert found.relative == (4 + 6 * 4) * EPS[torch.float32]


def test_a_result_may_have_no_terms():
    found = tolerance_of(Kind.PRODUCT, torch.float32, terms=0, magnitude=0.0)
    assert compare(torch.zeros(2, 0) @ torch.zeros(0, 3), torch.zeros(2, 3), found).is_close
    with pytest.raises(ValueError, match="terms is -1"):
        tolerance_of(Kind.PRODUCT, torch.float32, terms=-1)


def test_tolerances_add_up():
    both = Tolerance(0.5, 1.0) + Tolerance(0.25, torch.tensor([1.0, 2.0]))
    assert both.bound(torch.tensor([-4.0, 0.0])).tolist() == [5.0, 3.0]


def test_sums_in_any_order_are_within_the_bound_and_a_lost_term_is_not():
    x = torch.randn(100, 300, generator=torch.Generator().manual_seed(0))
    exact, magnitude = x.double().sum(1), x.double().abs().sum(1)
    tolerance = tolerance_of(Kind.REDUCTION, torch.float32, terms=300, magnitude=magnitude)
    for order in (x, x.flip(1), x.sort(1).values):
        assert compare(order.cumsum(1)[:, -1], exact, tolerance).is_close
    assert compare(x[:, 1:].sum(1), exact, tolerance).wrong > 90
