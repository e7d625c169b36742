"""Losses and their gradients against torch in float64."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F

from tests.aclnn.cases import FLOATING, sample, seeded
from tests.aclnn.compare import INVALID, assert_near, computed, epsilon
from tests.aclnn.library import AclnnError, Library

REDUCTIONS = ["none", "mean", "sum"]
Tensor = torch.Tensor


@dataclass(frozen=True)
class Loss:
    """A loss of (input, target) and further arguments; ``prepare`` brings random numbers where it is defined."""

    name: str
    function: Callable[..., Tensor]
    arguments: tuple = ()
    extra: int = 0  # optional tensors that lie between target and reduction
    prepare: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] = lambda x, y: (x, y)
    targets: bool = False  # whether there is a gradient of the target, too


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
    """A term is off by a few roundings of what is computed in; a sum by those of all its terms."""
    step = 32 * computed(dtype)
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
        atol = 64 * computed(dtype)
        if "CrossEntropy" in loss.name and loss.extra != 2:
            # 1 - x loses what x has beside 1.
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


def test_of_nothing(library: Library) -> None:
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


def test_nll_of_a_class_that_is_none(library: Library) -> None:
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
    for said, name, arguments in (
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
        with pytest.raises(AclnnError, match=said) as error:
            library.call(name, *arguments)
        assert error.value.code == INVALID
