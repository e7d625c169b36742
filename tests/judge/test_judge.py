"""The judge refuses planted errors and accepts correct results whose sums are in another order. No device is needed."""

from types import SimpleNamespace

import pytest
import torch
from opinfo.kinds import kind_of
from torch.testing._internal.common_methods_invocations import op_db

from torch_npu.accuracy import Kind, judge
from torch_npu.accuracy.judge import Rule
from torch_npu.accuracy.rounding import changed


def rule(kind: Kind, work, *given, plain: bool = True) -> Rule:
    return Rule(kind, lambda change: work(*changed(given, change)), given, plain)


def refuses(expected, actual, how: Rule, *, exact: bool = False) -> None:
    judge.check_same(expected, expected, how, exact=exact)
    with pytest.raises(AssertionError, match="elements are wrong"):
        judge.check_same(expected, actual, how, exact=exact)


def planted(t: torch.Tensor, index, value: float) -> torch.Tensor:
    t = t.clone()
    t[index] = value
    return t


@pytest.mark.parametrize("kind", Kind)
def test_a_large_result_does_not_excuse_a_later_one(kind):
    large, small = torch.tensor([1e6]), torch.tensor([1.0])
    how = rule(kind, lambda a, b: (a * 1, b * 1), large, small)
    refuses((large, small), (large, small + 50), how)
    refuses((large, small), (large, small + 1e-3), how)


@pytest.mark.parametrize("kind", Kind)
def test_a_large_element_does_not_excuse_another(kind):
    x = torch.ones(20)
    x[7] = 1e5
    refuses(x, planted(x, 3, 1.5), rule(kind, lambda x: x * 1, x))
    refuses(x, planted(x, 3, 1.0001), rule(kind, lambda x: x * 1, x))


@pytest.mark.parametrize("kind", Kind)
def test_an_element_that_the_cpu_gets_wrong_does_not_excuse_another(kind):
    x = torch.linspace(1, 2, 50)
    exact = x.double().exp().float()
    wrong = planted(exact, 0, 0.0)
    how = rule(kind, torch.exp, x)
    judge.check_same(wrong, wrong, how)
    with pytest.raises(AssertionError, match="1 of 50"):
        judge.check_same(wrong, planted(wrong, 9, exact[9].item() * 1.001), how)


def test_where_the_cpu_is_wrong_the_exact_result_passes():
    x = torch.linspace(1, 2, 50)
    exact = x.double().exp().float()
    judge.check_same(planted(exact, 0, 7.0), exact, rule(Kind.ELEMENTWISE, torch.exp, x))


def test_small_elements_have_digits_of_their_own():
    x = torch.tensor([1e-6, 1e-20, 1.0])
    how = rule(Kind.ELEMENTWISE, torch.sqrt, x)
    refuses(x.sqrt(), planted(x.sqrt(), 1, 1.001e-10), how)
    refuses(x.sqrt(), planted(x.sqrt(), 0, 0.0), how)


def test_some_units_in_the_last_place_pass_and_more_do_not():
    x = torch.linspace(0.1, 9, 100)
    exact, how = x.exp(), rule(Kind.ELEMENTWISE, torch.exp, x)
    eps = torch.finfo(torch.float32).eps
    judge.check_same(exact, exact * (1 + 2 * eps), how)
    refuses(exact, exact * (1 + 16 * eps), how)


def test_moved_numbers_are_equal():
    x = torch.randn(20, generator=torch.Generator().manual_seed(0))
    refuses(x.flip(0), x.flip(0) * (1 + 2**-23), rule(Kind.SELECTION, lambda x: x.flip(0), x))
    refuses(x, x + 1e-7, rule(Kind.COMPOSED, lambda x: x, x), exact=True)


def test_sums_follow_their_length_and_magnitudes():
    x = torch.randn(3, 500, generator=torch.Generator().manual_seed(0))
    x[0] *= 1e6
    how = rule(Kind.REDUCTION, lambda x: x.sum(1), x)
    other_order = x.flip(1).cumsum(1)[:, -1]
    judge.check_same(x.sum(1), other_order, how)
    refuses(x.sum(1), planted(x.sum(1), 1, x[1].sum().item() + 0.1), how)
    forgotten = torch.cat([x[:, :3], x[:, 4:]], 1).sum(1)
    refuses(x.sum(1), forgotten, how)


def test_products_follow_their_length_and_magnitudes():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(6, 40, generator=generator), torch.randn(40, 5, generator=generator)
    a[0] *= 1e5
    how = rule(Kind.PRODUCT, torch.mm, a, b)
    other_order = (a.flip(1)[:, :, None] * b.flip(0)).cumsum(1)[:, -1]
    judge.check_same(a @ b, other_order, how)
    refuses(a @ b, planted(a @ b, (2, 2), (a @ b)[2, 2].item() + 1e-3), how)
    refuses(a @ b, a[:, 1:] @ b[1:], how)
    half = rule(Kind.PRODUCT, torch.mm, a[1:].half(), b.half())
    in_half = (a[1:].half()[:, :, None] * b.half()).cumsum(1, dtype=torch.float16)[:, -1]
    refuses(a[1:].half() @ b.half(), in_half, half)


def test_the_error_of_a_cancelling_sum_follows_its_terms():
    x = torch.tensor([1e8, 3.0, -1e8, 1.0])
    how = rule(Kind.REDUCTION, lambda x: x.sum().reshape(1), x)
    judge.check_same(torch.tensor([4.0]), torch.tensor([8.0]), how)
    refuses(torch.tensor([4.0]), torch.tensor([1000.0]), how)


def test_composed_operators_follow_the_roundings_within():
    x = torch.randn(4, 30, generator=torch.Generator().manual_seed(0)) * 5
    how = rule(Kind.COMPOSED, lambda x: x.softmax(1), x)
    exact = x.double().softmax(1).float()
    other = x.exp() / x.exp().sum(1, keepdim=True)
    judge.check_same(exact, other, how)
    least = exact.argmin().item()
    refuses(exact, planted(exact.flatten(), least, 2e-7).reshape(4, 30), how)
    refuses(exact, exact * (1 + 1e-4), how)


def test_nan_and_infinity_are_results():
    x = torch.tensor([1.0, float("nan"), float("inf"), 2.0])
    how = rule(Kind.ELEMENTWISE, lambda x: x * 1, x)
    judge.check_same(x, x.clone(), how)
    for index, value in ((0, float("nan")), (1, 1.0), (2, 3e38), (3, float("inf"))):
        refuses(x, planted(x, index, value), how)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.complex128]
)
def test_other_types_have_their_own_digits(dtype):
    x = torch.linspace(1, 2, 20, dtype=torch.float64).to(dtype)
    x[0] = 1000
    off = x * (1 + 128 * torch.finfo(dtype).eps)
    for kind in Kind:
        refuses(x, planted(x, 4, off[4].item()), rule(kind, lambda x: x * 1, x))


def test_integers_bools_and_structure():
    how = rule(Kind.COMPOSED, lambda x: x, torch.arange(3))
    refuses(torch.arange(3), torch.tensor([0, 1, 3]), how)
    refuses(torch.tensor([True]), torch.tensor([False]), how)
    for other in (torch.arange(3).int(), torch.arange(4), None, 3):
        with pytest.raises(AssertionError):
            judge.check_same(torch.arange(3), other, how)


def test_without_a_reference_the_cpu_decides():
    x = torch.ones(3)
    refuses(x, planted(x, 1, 1.0001), Rule())
    judge.check_same(x, x * (1 + 2**-23), Rule())


def test_kinds_follow_the_operator():
    kinds = {op.full_name: kind_of(op) for op in op_db}
    derivatives = {op.full_name: kind_of(op, derivative=True) for op in op_db}
    assert kinds["exp"] is kinds["add"] is Kind.ELEMENTWISE
    assert kinds["sum"] is derivatives["sum"] is Kind.REDUCTION
    assert kinds["mm"] is kinds["nn.functional.conv2d"] is derivatives["mm"] is Kind.PRODUCT
    assert kinds["gather"] is Kind.SELECTION
    assert kinds["softmax"] is derivatives["exp"] is derivatives["gather"] is Kind.COMPOSED
    assert kind_of(SimpleNamespace(name="no such operator")) is Kind.COMPOSED
