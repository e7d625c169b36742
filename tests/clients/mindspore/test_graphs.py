"""Functions that MindSpore compiles, and runs kernel by kernel, against the same in PyNative."""

from collections.abc import Callable

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, mint
from mindspore.mint.nn import functional

_random = np.random.default_rng(4)
X = Tensor(_random.standard_normal((4, 6)).astype(np.float32))
Y = Tensor(_random.standard_normal((4, 6)).astype(np.float32))


def arithmetic(x: Tensor, y: Tensor) -> Tensor:
    """Elementwise operators, which may be fused."""
    return mint.exp(x * y - x / 2) + mint.abs(y)


def attention(x: Tensor, y: Tensor) -> Tensor:
    """Products and a softmax."""
    return mint.matmul(functional.softmax(mint.matmul(x, mint.transpose(y, 0, 1)), -1), y)


def reductions(x: Tensor, y: Tensor) -> Tensor:
    """Sums, means and a norm."""
    return functional.layer_norm(x, (6,)) + mint.sum(y, 1, True) - mint.mean(x, 0, True)


def choices(x: Tensor, y: Tensor) -> Tensor:
    """Sorting and conditions."""
    return mint.where(x > y, mint.topk(x, 6, 1)[0], mint.cumsum(y, 1))


@pytest.mark.parametrize("function", [arithmetic, attention, reductions, choices])
def test_equals_pynative(function):
    compiled: Callable[..., Tensor] = ms.jit(function, jit_level="O0")
    assert np.array_equal(compiled(X, Y).asnumpy(), function(X, Y).asnumpy())
    # Again with other values: the graph is kept.
    assert np.array_equal(compiled(Y, X).asnumpy(), function(Y, X).asnumpy())


def chain(x: Tensor, y: Tensor) -> Tensor:
    """A function that reads each value once."""
    return mint.tanh(mint.matmul(mint.exp(x), mint.transpose(y, 0, 1)))


@pytest.mark.parametrize("function", [chain])
def test_gradients_equal_those_of_pynative(function):
    def loss(x: Tensor, y: Tensor) -> Tensor:
        return mint.sum(function(x, y))

    expected = ms.grad(loss)(X, Y).asnumpy()
    actual = ms.grad(ms.jit(loss, jit_level="O0"))(X, Y).asnumpy()
    # The same kernels; sums of gradients in another order.
    np.testing.assert_allclose(
        actual, expected, atol=32 * np.finfo(np.float32).eps * np.abs(expected).max()
    )
