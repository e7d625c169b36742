"""compare and assert_close: which elements are wrong, and what a comparison says about them."""

import math

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Element, Kind, Tolerance, assert_close, compare, tolerance_of

EQUAL = Tolerance()


def test_the_wrong_elements_are_counted_and_the_worst_is_named():
    expected = torch.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 6.0]])
    actual = expected.clone()
    actual[0, 1], actual[1, 1], actual[1, 2] = 2.25, 0.75, 6.0000005
    found = compare(actual, expected, Tolerance(relative=2.0**-20))
    assert (found.shape, found.dtype, found.elements, found.wrong) == ((2, 3), torch.float32, 6, 2)
    assert found.worst == Element((1, 1), 0.75, 0.5, 0.25, 2.0**-21)
    assert (found.max_absolute, found.max_relative) == (0.25, 0.5)
    assert not found.is_close
    assert str(found) == (
        "2 of 6 elements are wrong; the worst at (1, 1) it is 0.75, not 0.5: a difference of 0.25, 4.77e-07 is allowed"
    )
    with pytest.raises(AssertionError, match=r"^logits: 2 of 6 elements are wrong"):
        assert_close(actual, expected, Tolerance(relative=2.0**-20), message="logits")
    assert compare(actual, expected, Tolerance(absolute=0.25)).is_close


def test_an_absolute_tolerance_may_be_a_tensor():
    expected = torch.zeros(2, 3)
    allowed = torch.tensor([0.0, 1.0, 2.0])
    assert compare(allowed.expand(2, 3), expected, Tolerance(absolute=allowed)).is_close
    found = compare(torch.ones(2, 3), expected, Tolerance(absolute=allowed))
    assert (found.wrong, found.worst.index) == (2, (0, 0))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint16, torch.bool])
def test_integers_are_equal(dtype):
    expected = torch.tensor([0, 1, 1]).to(dtype)
    actual = torch.tensor([0, 1, 0]).to(dtype)
    assert compare(expected, expected).is_close
    found = compare(actual, expected, Tolerance(absolute=9.0))
    assert (found.wrong, found.worst.index, found.worst.bound) == (1, (2,), 0.0)
    assert (found.worst.actual, found.worst.expected) == (0, 1)


def test_large_integers_have_all_digits():
    expected = torch.tensor([2**62])
    assert compare(expected + 1, expected).wrong == 1


def test_nan_equals_nan_and_nothing_else():
    nan = torch.tensor([math.nan, 1.0])
    assert compare(nan, nan).is_close
    assert compare(nan, nan, equal_nan=False).wrong == 1
    for one, other in ((nan, torch.ones(2)), (torch.ones(2), nan)):
        found = compare(one, other, Tolerance(absolute=1e30))
        assert (found.wrong, found.max_absolute) == (1, math.inf)
        assert math.isnan(found.cosine)


def test_infinities_are_equal_with_their_signs():
    x = torch.tensor([math.inf, -math.inf, 3e38])
    assert compare(x, x, EQUAL).is_close
    huge = Tolerance(relative=1.0, absolute=math.inf)
    for index, value in ((0, -math.inf), (0, 3e38), (2, math.inf)):
        actual = x.clone()
        actual[index] = value
        assert compare(actual, x, huge).wrong == 1


def test_a_reference_in_double_precision_overflows_as_its_result():
    exact = torch.tensor([70000.0, 1 / 3], dtype=torch.float64)
    assert compare(torch.tensor([math.inf, 1 / 3], dtype=torch.float16), exact).is_close
    assert compare(torch.tensor([65504.0, 1 / 3], dtype=torch.float16), exact).wrong == 1


def test_signed_zeros():
    zero, negative = torch.tensor([0.0, 1.0]), torch.tensor([-0.0, 1.0])
    assert compare(negative, zero).is_close
    assert compare(negative, negative, signed_zeros=True).is_close
    assert compare(negative, zero, signed_zeros=True).wrong == 1
    # A number that the type does not hold may be rounded to either zero.
    tiny = torch.tensor([1e-300, 1.0], dtype=torch.float64)
    assert compare(negative, tiny, Tolerance(absolute=1e-45), signed_zeros=True).is_close


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex32])
def test_complex_numbers(dtype):
    x = torch.tensor([1 + 2j, -3j, complex(math.inf, 1)], dtype=torch.complex64).to(dtype)
    assert compare(x, x).is_close
    other = torch.tensor([1 + 2j, 3j, complex(math.inf, 1)], dtype=torch.complex64).to(dtype)
    found = compare(other, x)
    assert (found.wrong, found.worst.index, found.max_absolute) == (1, (1,), 6.0)


def test_float8():
    x = torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn)
    assert compare(x, x, EQUAL).is_close
    assert compare(torch.tensor([1.0, 2.25]).to(x.dtype), x, EQUAL).wrong == 1


def test_shapes_and_dtypes():
    x = torch.ones(2, 3)
    found = compare(x, torch.ones(3, 2))
    assert (found.problem, found.is_close) == ("the shape is [2, 3], not [3, 2]", False)
    with pytest.raises(AssertionError, match=r"the dtype is torch\.float32, not torch\.float16"):
        assert_close(x, x.half())
    assert compare(x, x.half(), check_dtype=False).is_close
    assert compare(x, x.double()).is_close
    assert compare(x.double(), x).problem
    assert compare(x.int(), x.double()).problem
    assert compare(x, x.to(torch.complex128)).problem


def test_scalars_and_empty_tensors():
    found = compare(torch.tensor(2.0), torch.tensor(1.0))
    assert (found.wrong, found.worst.index) == (1, ())
    assert compare(torch.ones(0, 3), torch.ones(0, 3)).is_close


def test_layouts_and_devices_do_not_matter():
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    for other in (x.t().contiguous().t(), x.to_sparse(), x.to_sparse_csr(), x.npu(), -(-x).npu()):
        assert compare(other, x, EQUAL).is_close
    assert compare(x.npu() + 1, x, EQUAL).wrong == 4
    nested = torch.nested.nested_tensor([x])
    with pytest.raises(TypeError, match="nested tensors are compared one by one"):
        compare(nested, nested)
    with pytest.raises(TypeError, match="expected is list, not a tensor"):
        compare(x, [1.0])


def test_cosine_similarity():
    x = torch.tensor([3.0, 4.0])
    assert compare(2 * x, x).cosine == pytest.approx(1)
    assert compare(-x, x).cosine == pytest.approx(-1)
    assert compare(torch.tensor([-4.0, 3.0]), x).cosine == pytest.approx(0)
    assert compare(x * 1e37, x * 1e-37).cosine == pytest.approx(1)
    assert [compare(torch.zeros(2), y).cosine for y in (x, torch.zeros(2))] == [0, 1]


def test_an_element_that_is_expected_to_be_zero_has_no_relative_difference():
    found = compare(torch.tensor([0.5, 1.5]), torch.tensor([0.0, 1.0]))
    assert (found.max_absolute, found.max_relative) == (0.5, 0.5)


def test_the_example_of_the_package():
    a, b = torch.randn(64, 256), torch.randn(256, 32)
    exact = a.double() @ b.double()
    magnitude = a.double().abs() @ b.double().abs()
    tolerance = tolerance_of(Kind.PRODUCT, torch.float32, terms=256, magnitude=magnitude)
    accuracy.assert_close(a.npu() @ b.npu(), exact, tolerance)
    with pytest.raises(AssertionError):
        accuracy.assert_close(a.npu()[:, 1:] @ b.npu()[1:], exact, tolerance)
