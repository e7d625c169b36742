"""Operators of MindSpore's mint on softnpu against numpy, in PyNative."""

import numpy as np
import pytest
from operators import OPERATORS

EPS = float(np.finfo(np.float32).eps)
# Functions and sums of float32 by both sides: a few roundings, of the result and of the terms, which are below 8.
RTOL, ATOL = 32 * EPS, 8 * 32 * EPS


def check(actual: np.ndarray, expected: np.ndarray) -> None:
    """Compares sizes and elements."""
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, RTOL, ATOL)


@pytest.mark.parametrize("name", OPERATORS)
def test_pynative(name):
    call, expected = OPERATORS[name]
    check(call().asnumpy(), expected())
