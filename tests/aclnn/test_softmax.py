"""softmax, its logarithm and their gradients against torch in float64, in every dtype and layout."""

import pytest
import torch

from tests.aclnn.cases import FILLED, FLOATING, sample, seeded
from tests.aclnn.compare import INVALID, assert_near
from tests.aclnn.library import AclnnError, Library
from torch_npu.accuracy.dtypes import compute_epsilon, epsilon


def _outputs(x: torch.Tensor, dtype: torch.dtype) -> list[torch.Tensor]:
    """Contiguous, and with gaps."""
    return [torch.empty(x.shape, dtype=dtype), torch.empty((*x.shape, 2), dtype=dtype)[..., 1]]


@pytest.mark.parametrize("layout", FILLED)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("log", [False, True], ids=["softmax", "log_softmax"])
def test_forward(library: Library, log: bool, dtype: torch.dtype, layout: str) -> None:
    x = sample(layout, dtype, seeded("softmax", dtype, layout))
    function = torch.log_softmax if log else torch.softmax
    for dim in range(-x.dim(), max(x.dim(), 1)):
        want = function(x.double(), dim)
        # exp(a - b) has the rounding error of a - b, and so has the sum.
        spread = 2 * x.double().abs().max().item() + 8
        rtol = epsilon(dtype) + spread * compute_epsilon(dtype)
        for out in _outputs(x, dtype):
            library.call("aclnnLogSoftmax" if log else "aclnnSoftmax", x, dim, out)
            # A half type has no small numbers.
            assert_near(out, want, rtol, torch.finfo(dtype).smallest_normal + (rtol if log else 0))


@pytest.mark.parametrize("layout", FILLED)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("log", [False, True], ids=["softmax", "log_softmax"])
def test_gradient(library: Library, log: bool, dtype: torch.dtype, layout: str) -> None:
    g = seeded("softmax gradient", dtype, layout)
    x = sample(layout, dtype, g)
    grad = sample(layout, dtype, g)
    backward = torch._log_softmax_backward_data if log else torch._softmax_backward_data
    for dim in range(-x.dim(), max(x.dim(), 1)):
        y = (torch.log_softmax if log else torch.softmax)(x, dim)
        want = backward(grad.double(), y.double(), dim, torch.float64)
        if log:
            scale = grad.double().abs() + y.double().exp() * grad.double().abs().sum(
                dim, keepdim=True
            )
        else:
            scale = y.double() * (
                grad.double().abs() + (grad * y).double().abs().sum(dim, keepdim=True)
            )
        for out in _outputs(x, dtype):
            name = "aclnnLogSoftmaxBackward" if log else "aclnnSoftmaxBackward"
            library.call(name, grad, y, dim, out)
            atol = 64 * compute_epsilon(dtype) * scale + torch.finfo(dtype).smallest_normal
            assert_near(out, want, epsilon(dtype), atol)


@pytest.mark.parametrize("name", ["aclnnSoftmax", "aclnnLogSoftmax"])
def test_half_to_float(library: Library, name: str) -> None:
    x = sample("transposed", torch.float16, seeded("half to float"))
    want = (torch.log_softmax if "Log" in name else torch.softmax)(x.double(), 1)
    out = torch.empty(x.shape)
    library.call(name, x, 1, out)
    assert_near(out, want, 16 * epsilon(torch.float32), 16 * epsilon(torch.float32))


@pytest.mark.parametrize("dim", [0, 1], ids=["across", "along"])
@pytest.mark.parametrize("log", [False, True], ids=["softmax", "log_softmax"])
def test_values_that_are_not_finite(library: Library, log: bool, dim: int) -> None:
    inf, nan = float("inf"), float("nan")
    for length in (5, 3000):
        x = torch.zeros(6, length)
        x[1, 3], x[2, 3], x[3, 3] = nan, inf, -inf
        x[4] = -inf
        x[5] = 1e4
        x[5, 0] = -1e4
        y = x.t().contiguous() if dim == 0 else x
        out = torch.empty_like(y)
        library.call("aclnnLogSoftmax" if log else "aclnnSoftmax", y, dim, out)
        want = (torch.log_softmax if log else torch.softmax)(y.double(), dim)
        assert_near(out, want, 16 * epsilon(torch.float32), 16 * epsilon(torch.float32))


def test_in_place_and_empty_tensors(library: Library) -> None:
    x = torch.randn(7, 1300, generator=seeded("in place"))
    want = x.double().softmax(1)
    library.call("aclnnSoftmax", x, 1, x)
    assert_near(x, want, 32 * epsilon(torch.float32))
    for shape in ((0, 3), (3, 0)):
        library.call("aclnnSoftmax", torch.empty(shape), 1, torch.empty(shape))


def test_bad_input(library: Library) -> None:
    x = torch.ones(2, 3)
    for message, name, arguments in (
        ("dimension 2 is out of range", "aclnnSoftmax", (x, 2, torch.empty(2, 3))),
        (r"\[2, 3\] is needed", "aclnnSoftmax", (x, 1, torch.empty(3, 2))),
        ("softmax is of floating-point", "aclnnLogSoftmax", (x.long(), 1, torch.empty(2, 3))),
        ("the gradient has", "aclnnSoftmaxBackward", (torch.ones(3), x, 1, torch.empty(2, 3))),
    ):
        with pytest.raises(AclnnError, match=message) as error:
            library.call(name, *arguments)
        assert error.value.code == INVALID
