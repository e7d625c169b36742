"""Steps of optimizers, against the same formulas of torch in float64 and against torch's optimizers."""

import math

import pytest
import torch

from tests.aclnn.cases import FLOATING, dtype_name, off_zero, sample, seeded
from tests.aclnn.compare import INVALID, NULL, assert_within
from tests.aclnn.library import AclnnError, Library
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

WRITTEN = ("contiguous", "transposed", "strided", "scalar", "empty", "nine")
# The error bound of a step: one rounding of a value to its dtype, and a few of float32 before.
FACTOR = 8


def _float(number: float) -> float:
    """Rounds to a C float."""
    return torch.tensor(number, dtype=torch.float32).item()


def _state(
    name: str, layout: str, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """var, m, v, max_v, grad."""
    numbers = seeded(name, layout, dtype)
    var, m, v, largest, grad = (sample(layout, dtype, numbers, off_zero) for _ in range(5))
    return var, m, v.abs_(), largest.abs_(), grad


def _adam_w(state, step, lr, beta1, beta2, decay, eps, amsgrad, maximize):
    """Loshchilov and Hutter in float64; ``step`` includes this one."""
    var, m, v, largest, grad = (tensor.double() for tensor in state)
    grad = -grad if maximize else grad
    var = var * (1 - lr * decay)
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    largest = torch.maximum(largest, v) if amsgrad else largest
    root = (largest if amsgrad else v).sqrt() / math.sqrt(1 - beta2**step)
    return var - lr / (1 - beta1**step) * m / (root + eps), m, v, largest


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("layout", WRITTEN)
@pytest.mark.parametrize(
    ("amsgrad", "maximize"), [(False, False), (True, False), (False, True), (True, True)]
)
def test_adam_w(library: Library, layout: str, dtype: torch.dtype, amsgrad: bool, maximize: bool):
    state = _state("adamw", layout, dtype)
    numbers = [_float(n) for n in (0.01, 0.9, 0.99, 0.1, 1e-8)]
    expected = _adam_w(state, 4, *numbers, amsgrad, maximize)
    var, m, v, largest, grad = state
    arguments = (
        var,
        m,
        v,
        largest if amsgrad else None,
        grad,
        torch.tensor(3.0),
        *numbers,
        amsgrad,
        maximize,
    )
    library.call("aclnnApplyAdamWV2", *arguments)
    for got, one in zip((var, m, v, largest), expected, strict=True):
        assert_within(got, one, FACTOR)


def test_adam_w_equals_pytorch(library: Library):
    parameter = torch.nn.Parameter(torch.linspace(-2, 2, 1000, dtype=torch.float64))
    optimizer = torch.optim.AdamW(
        [parameter], lr=0.1, betas=(0.5, 0.75), weight_decay=0.25, eps=0.5
    )
    var, m, v = parameter.detach().clone(), torch.zeros(1000).double(), torch.zeros(1000).double()
    for step in range(5):
        parameter.grad = torch.sin(parameter.detach() * (step + 1))
        library.call(
            "aclnnApplyAdamWV2",
            var,
            m,
            v,
            None,
            parameter.grad,
            torch.tensor(step),
            0.1,
            0.5,
            0.75,
            0.25,
            0.5,
            False,
            False,
        )
        optimizer.step()
    accuracy.assert_close(
        var, parameter.detach(), Tolerance(1e-6, 1e-6), equal_nan=False
    )  # lr is a float32 here


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("amsgrad", [False, True])
def test_adam_w_with_powers(library: Library, dtype: torch.dtype, amsgrad: bool):
    state = _state("powers", "strided", dtype)
    powers = [
        torch.tensor([n], dtype=torch.float64)
        for n in (0.9**3, 0.99**3, 0.01, 0.1, 0.9, 0.99, 1e-8)
    ]
    expected = _adam_w(state, 4, 0.01, 0.9, 0.99, 0.1, 1e-8, amsgrad, True)
    var, m, v, largest, grad = state
    library.call(
        "aclnnApplyAdamW", var, m, v, *powers, grad, largest if amsgrad else None, amsgrad, True
    )
    for got, one in zip((var, m, v, largest), expected, strict=True):
        assert_within(got, one, FACTOR)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("nesterov", [False, True])
def test_adam(library: Library, dtype: torch.dtype, nesterov: bool):
    var, m, v, _, grad = _state("adam", "transposed", dtype)
    power1, power2, lr, beta1, beta2, eps = 0.9**4, 0.99**4, 0.01, 0.9, 0.99, 1e-4
    g = grad.double()
    expected_m = beta1 * m.double() + (1 - beta1) * g
    expected_v = beta2 * v.double() + (1 - beta2) * g**2
    ahead = beta1 * expected_m + (1 - beta1) * g if nesterov else expected_m
    size = lr * math.sqrt(1 - power2) / (1 - power1)
    expected = var.double() - size * ahead / (expected_v.sqrt() + eps)
    numbers = [
        torch.tensor(n, dtype=torch.float64) for n in (power1, power2, lr, beta1, beta2, eps)
    ]
    library.call("aclnnApplyAdam", var, m, v, *numbers, grad, False, nesterov)
    for got, one in zip((var, m, v), (expected, expected_m, expected_v), strict=True):
        assert_within(got, one, FACTOR)


@pytest.mark.parametrize("mixed", [(torch.float32, torch.bfloat16), (torch.float16, torch.float32)])
def test_adam_w_of_mixed_types(library: Library, mixed: tuple[torch.dtype, torch.dtype]):
    numbers = seeded("mixed")
    var, grad = (sample("contiguous", dtype, numbers, off_zero) for dtype in mixed)
    m, v = torch.zeros(var.shape), torch.ones(var.shape)
    expected = _adam_w((var, m, v, v, grad), 1, 0.5, 0.5, 0.5, 0.5, 0.25, False, False)
    library.call(
        "aclnnApplyAdamWV2",
        var,
        m,
        v,
        None,
        grad,
        torch.tensor(0),
        0.5,
        0.5,
        0.5,
        0.5,
        0.25,
        False,
        False,
    )
    for got, one in zip((var, m, v), expected[:3], strict=True):
        assert_within(got, one, FACTOR)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("momentum", [0.0, 0.75])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(
    ("nesterov", "maximize", "scale"),
    [(False, False, None), (True, True, None), (True, False, 4.0)],
)
def test_sgd(library: Library, dtype, momentum, first, nesterov, maximize, scale):
    numbers = seeded("sgd", dtype)
    params, grads, buffers = (
        [sample(layout, dtype, numbers, off_zero) for layout in WRITTEN] for _ in range(3)
    )
    if first:
        for buffer in buffers:
            buffer.fill_(math.nan)  # the contents of a new buffer are ignored
    decay, lr, dampening = 0.125, 0.25, 0.5
    expected = []
    for param, grad, buffer in zip(params, grads, buffers, strict=True):
        unscaled = grad.double() / (scale or 1)
        g = (-unscaled if maximize else unscaled) + decay * param.double()
        moment = buffer.double()
        if momentum:
            moment = g if first else momentum * moment + (1 - dampening) * g
            g = g + momentum * moment if nesterov else moment
        expected.append((param.double() - lr * g, unscaled, moment))
    scale_tensor = None if scale is None else torch.tensor([scale])
    library.call(
        "aclnnFusedSgd",
        params,
        grads,
        buffers,
        scale_tensor,
        decay,
        momentum,
        lr,
        dampening,
        nesterov,
        maximize,
        first,
    )
    for *got, wanted in zip(params, grads, buffers, expected, strict=True):
        for one, other in zip(got, wanted, strict=True):
            assert_within(one, other, FACTOR)


def test_sgd_without_momentum_needs_no_buffers(library: Library):
    for buffers in (None, []):
        param = torch.ones(3)
        library.call(
            "aclnnFusedSgd",
            [param],
            [torch.ones(3)],
            buffers,
            None,
            0,
            0,
            0.5,
            0,
            False,
            False,
            False,
        )
        assert param.tolist() == [0.5] * 3


@pytest.mark.parametrize("found", [0.0, 1.0])
@pytest.mark.parametrize("tracker", [0, 1, 2])
@pytest.mark.parametrize("scale", [1024.0, 3e38])
def test_amp_update_scale(library: Library, found: float, tracker: int, scale: float):
    scale_, tracker_, found_ = (
        torch.tensor(scale),
        torch.tensor(tracker, dtype=torch.int32),
        torch.tensor(found),
    )
    expected, expected_tracker = scale_.clone(), tracker_.clone()
    torch._amp_update_scale_(expected, expected_tracker, found_, 2.0, 0.5, 3)
    library.call("aclnnAmpUpdateScale", scale_, tracker_, found_, 2.0, 0.5, 3, scale_, tracker_)
    assert (scale_.item(), tracker_.item()) == (expected.item(), expected_tracker.item())


def test_what_is_refused(library: Library):
    numbers = (0.1, 0.9, 0.99, 0.0, 1e-8, False, False)
    ones = [torch.ones(3) for _ in range(4)]
    with pytest.raises(AclnnError, match=r"grad is float32.2. where var is float32.3.") as error:
        library.call("aclnnApplyAdamWV2", *ones[:3], None, torch.ones(2), torch.tensor(0), *numbers)
    assert error.value.code == INVALID
    with pytest.raises(AclnnError, match="maxGradNorm, which amsgrad needs, is null") as error:
        library.call(
            "aclnnApplyAdamWV2",
            *ones[:3],
            None,
            ones[3],
            torch.tensor(0),
            *numbers[:5],
            True,
            False,
        )
    assert error.value.code == NULL
    with pytest.raises(AclnnError, match="step has to be one real number"):
        library.call("aclnnApplyAdamWV2", *ones[:3], None, ones[3], torch.ones(2), *numbers)
    integers = torch.ones(3, dtype=torch.int32)
    with pytest.raises(AclnnError, match="floating-point types are taken"):
        library.call(
            "aclnnApplyAdamWV2", integers, *ones[1:3], None, ones[3], torch.tensor(0), *numbers
        )
    with pytest.raises(AclnnError, match="momentumBuffers, which momentum needs"):
        library.call(
            "aclnnFusedSgd", ones[:1], ones[1:2], None, None, 0, 0.5, 0.5, 0, False, False, False
        )
    with pytest.raises(AclnnError, match="growthTracker has to be one int32"):
        library.call(
            "aclnnAmpUpdateScale",
            ones[0][:1],
            ones[0][:1],
            ones[0][:1],
            2,
            0.5,
            3,
            ones[0][:1],
            ones[0][:1],
        )
