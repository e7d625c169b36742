"""Losses and their gradients against torch in float64."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F

from tests.aclnn.cases import (
    FLOATING,
    LAYOUTS,
    dtype_name,
    laid_out,
    normal,
    sample,
    seeded,
    unwritten,
)
from tests.aclnn.compare import INVALID, assert_near, refused
from tests.aclnn.library import AclnnError, Library
from torch_npu.accuracy.dtypes import compute_epsilon, epsilon

REDUCTIONS = ["none", "mean", "sum"]
Tensor = torch.Tensor


@dataclass(frozen=True)
class Loss:
    """A loss of (input, target) and further arguments; ``prepare`` moves random numbers to its domain."""

    name: str
    function: Callable[..., Tensor]
    arguments: tuple = ()
    extra: int = 0  # optional tensors between target and reduction
    prepare: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda x, y: (x, y)
    targets: bool = False  # whether there is a gradient of the target


def _probabilities(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x.double().sigmoid().to(x.dtype), y.double().sigmoid().to(x.dtype)


def _signs(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x, torch.where(y > 0, 1, -1).to(y.dtype)


def _distributions(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return (-x.double().abs()).to(x.dtype), y.double().sigmoid().to(x.dtype)


LOSSES = [
    Loss("MseLoss", F.mse_loss),
    Loss("L1Loss", F.l1_loss),
    Loss(
        "SmoothL1Loss",
        lambda x, y, reduction: F.smooth_l1_loss(x, y, reduction=reduction, beta=0.5),
        (0.5,),
    ),
    Loss("BinaryCrossEntropy", F.binary_cross_entropy, extra=1, prepare=_probabilities),
    Loss(
        "BinaryCrossEntropyWithLogits",
        F.binary_cross_entropy_with_logits,
        extra=2,
        prepare=lambda x, y: (x, _probabilities(x, y)[1]),
    ),
    Loss(
        "KlDiv",
        lambda x, y, reduction: F.kl_div(x, y, reduction=reduction),
        (False,),
        prepare=_distributions,
        targets=True,
    ),
    Loss(
        "KlDiv",
        lambda x, y, reduction: F.kl_div(x, y, reduction=reduction, log_target=True),
        (True,),
        targets=True,
    ),
    Loss("SoftMarginLoss", F.soft_margin_loss, prepare=_signs),
]


def _bound(dtype: torch.dtype, terms: Tensor, reduction: str) -> tuple[float, object]:
    """A term has the error of a few roundings of the compute type; a sum that of all its terms."""
    step = 32 * compute_epsilon(dtype)
    size = terms.abs() + 1
    if reduction != "none":
        size = size.sum() if reduction == "sum" else size.mean()
    return 2 * epsilon(dtype), step * size + torch.finfo(dtype).tiny


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
@pytest.mark.parametrize(
    "layout", ["contiguous", "transposed", "strided", "scalar", "long", "nine"]
)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}{loss.arguments}")
def test_loss(library: Library, loss: Loss, dtype: torch.dtype, layout: str) -> None:
    g = seeded(loss.name, dtype, layout)
    x, y = loss.prepare(sample(layout, dtype, g), sample(layout, dtype, g))
    missing = (None,) * loss.extra
    for code, reduction in enumerate(REDUCTIONS):
        a = x.detach().double().clone().requires_grad_()
        b = y.detach().double().clone().requires_grad_(loss.targets)
        want = loss.function(a, b, reduction=reduction)
        terms = loss.function(a, b, reduction="none").detach()
        out = torch.empty(want.shape, dtype=dtype)
        library.call(f"aclnn{loss.name}", x, y, *missing, code, *loss.arguments, out)
        assert_near(out, want.detach(), *_bound(dtype, terms, reduction))

        grad = sample(layout, dtype, g) if reduction == "none" else torch.tensor(1.5, dtype=dtype)
        want.backward(grad.double())
        scale = 1 / x.numel() if reduction == "mean" else 1.0
        atol = 64 * compute_epsilon(dtype)
        if "CrossEntropy" in loss.name and loss.extra != 2:
            # 1 - x loses the digits of x that 1 does not have.
            atol = atol / (1 - a.detach()).clamp_min(1e-12) ** 2
        atol = (
            atol * scale * (1 + a.grad.abs() / scale) * (1 + grad.double().abs())
            + torch.finfo(dtype).tiny
        )
        out = torch.empty(x.shape, dtype=dtype)
        library.call(f"aclnn{loss.name}Backward", grad, x, y, *missing, code, *loss.arguments, out)
        assert_near(out, a.grad, 2 * epsilon(dtype), atol)
        if loss.targets:
            library.call("aclnnKlDivTargetBackward", grad, x, y, code, *loss.arguments, out)
            atol = atol * (1 + b.grad.abs() / scale)
            assert_near(out, b.grad, 2 * epsilon(dtype), atol)


@pytest.mark.parametrize("code", [0, 1, 2], ids=REDUCTIONS)
def test_weights_and_broadcasting(library: Library, code: int) -> None:
    g = seeded("weights", code)
    x, y = torch.randn(4, 5, 6, generator=g), torch.rand(4, 5, 6, generator=g)
    weight, positive = torch.rand(5, 1, generator=g), torch.rand(6, generator=g)
    reduction = REDUCTIONS[code]
    a = x.double().requires_grad_()
    want = F.binary_cross_entropy_with_logits(
        a, y.double(), weight.double(), reduction=reduction, pos_weight=positive.double()
    )
    out = torch.empty(want.shape)
    library.call("aclnnBinaryCrossEntropyWithLogits", x, y, weight, positive, code, out)
    eps = epsilon(torch.float32)
    assert_near(out, want.detach(), 32 * eps, 32 * eps)
    want.sum().backward()
    grad = torch.ones(want.shape)
    out = torch.empty(x.shape)
    library.call(
        "aclnnBinaryCrossEntropyWithLogitsBackward", grad, x, y, weight, positive, code, out
    )
    assert_near(out, a.grad, 32 * eps, 32 * eps)
    row = torch.randn(6, generator=g)
    want = F.mse_loss(x.double(), row.double().expand_as(x), reduction=reduction)
    out = torch.empty(want.shape)
    library.call("aclnnMseLoss", x, row, code, out)
    assert_near(out, want, 32 * eps)


def test_empty_tensors(library: Library) -> None:
    x = torch.empty(0, 3)
    out = torch.zeros(())
    library.call("aclnnMseLoss", x, x, 1, out)
    assert out.isnan()
    library.call("aclnnMseLoss", x, x, 2, out)
    assert out == 0
    library.call("aclnnMseLoss", x, x, 0, torch.empty(0, 3))


SHAPES = {
    "class": (11,),
    "rows": (7, 11),
    "long": (20_000, 3),
    "image": (3, 5, 9, 4),
    "volume": (2, 3, 2, 2, 3),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("integers", [torch.int64, torch.int32], ids=str)
def test_nll(
    library: Library, shape: str, dtype: torch.dtype, weighted: bool, integers: torch.dtype
) -> None:
    g = seeded("nll", shape, dtype, weighted)
    size = SHAPES[shape]
    classes = size[0] if len(size) == 1 else size[1]
    x = torch.randn(size, generator=g).log_softmax(min(1, len(size) - 1)).to(dtype)
    if shape == "image":
        x = x.contiguous(memory_format=torch.channels_last)
    target = torch.randint(0, classes, (*size[:1], *size[2:])[len(size) == 1 :], generator=g)
    if target.dim():
        target.view(-1)[::5] = -7
    weight = torch.rand(classes, generator=g).to(dtype) if weighted else None
    suffix = "2d" if shape == "image" else ""
    for code, reduction in enumerate(REDUCTIONS):
        a = x.double().clone(memory_format=torch.contiguous_format).requires_grad_()
        w = None if weight is None else weight.double()
        want = F.nll_loss(a, target, w, ignore_index=-7, reduction=reduction)
        kept = (torch.ones(classes).double() if w is None else w)[target[target != -7]].sum()
        out, total = torch.empty(want.shape, dtype=dtype), torch.empty((), dtype=dtype)
        library.call(f"aclnnNLLLoss{suffix}", x, target.to(integers), weight, code, -7, out, total)
        rtol = 8 * epsilon(dtype)
        assert_near(out, want.detach(), rtol)
        assert_near(total, kept if code else torch.zeros(()).double(), rtol)
        grad = torch.randn(want.shape, generator=g).to(dtype)
        want.backward(grad.double())
        out = torch.full_like(x, 9)
        total = kept.to(dtype)
        library.call(
            f"aclnnNLLLoss{suffix}Backward",
            grad,
            x,
            target.to(integers),
            weight,
            code,
            -7,
            total,
            out,
        )
        assert_near(out, a.grad, rtol, torch.finfo(dtype).smallest_normal)


def test_nll_refuses_a_class_out_of_range(library: Library) -> None:
    x, total = torch.randn(3, 4), torch.ones(())
    for wrong in (4, -1):
        target = torch.tensor([0, wrong, 1])
        with pytest.raises(
            AclnnError, match=f"target {wrong} is out of range: there are 4 classes"
        ):
            library.call("aclnnNLLLoss", x, target, None, 1, -100, torch.empty(()), total)
        with pytest.raises(AclnnError, match=f"target {wrong} is out of range"):
            library.call(
                "aclnnNLLLossBackward",
                torch.ones(()),
                x,
                target,
                None,
                1,
                -100,
                total,
                torch.empty(3, 4),
            )


def test_bad_input(library: Library) -> None:
    x, one = torch.ones(2, 3), torch.empty(())
    for message, name, arguments in (
        ("reduction 3 does not exist", "aclnnMseLoss", (x, x, 3, one)),
        ("one number is needed", "aclnnMseLoss", (x, x, 1, torch.empty(2))),
        ("cannot be broadcast", "aclnnL1Loss", (x, torch.ones(4), 0, torch.empty(2, 3))),
        ("of floating-point numbers", "aclnnMseLoss", (x.long(), x.long(), 1, one)),
        ("may not be negative", "aclnnSmoothL1Loss", (x, x, 1, -1.0, one)),
        (
            "do not belong together",
            "aclnnNLLLoss",
            (x, torch.zeros(3).long(), None, 1, -100, one, one),
        ),
        ("classes are integers", "aclnnNLLLoss", (x, torch.zeros(2), None, 1, -100, one, one)),
        (
            "for 3 classes",
            "aclnnNLLLoss",
            (x, torch.zeros(2).long(), torch.ones(2), 1, -100, one, one),
        ),
    ):
        with pytest.raises(AclnnError, match=message) as error:
            library.call(name, *arguments)
        assert error.value.code == INVALID


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(7, 13), (3, 1), (40, 3000)], ids=str)
def test_cross_entropy(
    library: Library,
    shape: tuple,
    reduction: str,
    weighted: bool,
    smoothing: float,
    dtype: torch.dtype,
) -> None:
    g = seeded("cross entropy", shape, dtype)
    x = normal(shape, dtype, g)
    target = torch.randint(0, shape[1], shape[:1], generator=g)
    target[1] = -100
    kept = torch.float64 if dtype == torch.float64 else torch.float32
    weight = torch.rand(shape[1], generator=g, dtype=kept) + 0.1 if weighted else None
    a = x.double().requires_grad_()
    widened = None if weight is None else weight.double()
    want = F.cross_entropy(a, target, widened, reduction=reduction, label_smoothing=smoothing)
    logs = a.detach().log_softmax(1)
    # A logarithm has the error of a few roundings.
    step = (
        64
        * compute_epsilon(dtype)
        * (2 + logs.abs().max().item())
        * (shape[0] if reduction == "sum" else 1)
    )
    grad = normal(tuple(want.shape) or (1,), dtype, g)
    want.backward(grad.double().view(want.shape))
    for layout in LAYOUTS:
        loss, log_prob = unwritten(grad), unwritten(x, layout)
        arguments = (reduction, -100, smoothing, 0.0)
        library.call(
            "aclnnCrossEntropyLoss",
            laid_out(x, layout),
            target,
            weight,
            *arguments,
            False,
            loss,
            log_prob,
            None,
            None,
        )
        assert_near(loss, want.view(loss.shape), 2 * epsilon(dtype), step)
        assert_near(log_prob, logs, 2 * epsilon(dtype), step)
        out = unwritten(x, layout)
        given = laid_out(logs.to(dtype), layout)
        library.call(
            "aclnnCrossEntropyLossGrad", grad, given, target, weight, None, None, *arguments, out
        )
        # The logarithms are rounded to the dtype, and so are the probabilities.
        rounding = epsilon(dtype) * logs.abs().max().item()
        atol = (rounding + step) * 2 * grad.double().abs().max() + torch.finfo(
            dtype
        ).smallest_normal
        assert_near(out, a.grad, 2 * epsilon(dtype), atol)


def test_bad_cross_entropy(library: Library) -> None:
    x, target, loss, log_prob = (
        torch.ones(3, 4),
        torch.tensor([0, 1, 3]),
        torch.zeros(1),
        torch.zeros(3, 4),
    )

    def call(
        reduction: str = "mean", smoothing: float = 0.0, scale: float = 0.0, **given: torch.Tensor
    ) -> tuple:
        values, labels = given.get("x", x), given.get("target", target)
        return (
            "aclnnCrossEntropyLoss", values, labels, given.get("weight"), reduction, -100, smoothing, scale, False,
            loss, log_prob, None, None,
        )  # fmt: skip

    library.call(*call())
    refused(library, *call("middle"), message="reduction 'middle' does not exist")
    refused(library, *call("none"), message="loss is .* where 3 elements")
    refused(library, *call(smoothing=1.5), message="labelSmoothing is 1.5")
    refused(library, *call(scale=0.1), message="zloss is not defined")
    refused(library, *call(x=x.int()), message="floating-point")
    refused(library, *call(target=target[:2]), message="do not belong together")
    refused(library, *call(weight=torch.ones(3)), message="weight is .* where 4 elements")
    with pytest.raises(AclnnError, match="target 4 is out of range"):
        library.call(*call(target=target + 1))
    empty = torch.zeros(0, 4)
    library.call(
        "aclnnCrossEntropyLoss",
        empty,
        target[:0],
        None,
        "none",
        -100,
        0.0,
        0.0,
        False,
        empty[:, 0],
        empty,
        None,
        None,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=dtype_name)
@pytest.mark.parametrize("shape", [(5, 33), (1, 1), (0, 4), (3, 1000)], ids=str)
def test_cross_entropy_of_probabilities(library: Library, dtype: torch.dtype, shape: tuple) -> None:
    x = (normal(shape, torch.float64, seeded("x", shape)) * 5).to(dtype)
    labels = torch.rand(shape, generator=seeded("labels", shape)).softmax(-1).to(dtype)
    widened_x = x.double().requires_grad_()
    expected = -(labels.double() * widened_x.log_softmax(-1)).sum(-1)
    gradient = widened_x.detach().softmax(-1) - labels.double()
    for layout in LAYOUTS:
        loss = unwritten(expected.detach().to(dtype), layout)
        found = unwritten(x, layout)
        name = "aclnnSoftmaxCrossEntropyWithLogits"
        library.call(name, laid_out(x, layout), laid_out(labels, layout), loss, found)
        assert_near(loss, expected, 4 * epsilon(dtype), 4 * epsilon(dtype))
        assert_near(found, gradient, 4 * epsilon(dtype), 4 * epsilon(dtype))
