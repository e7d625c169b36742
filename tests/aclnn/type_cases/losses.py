"""Losses."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from tests.aclnn.type_cases.case import TypeCase, normal, whole, within


def _losses() -> list[TypeCase]:
    x, t = within(3, 4), within(3, 4, seed=1)
    one = normal(1, seed=7)[0]
    classes = whole(4, 3, dtype=torch.int32)
    logs = normal(3, 4).log_softmax(1)
    signs = torch.where(normal(3, 4, seed=8) > 0, 1.0, -1.0)

    def back(f: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda g, x, t: torch.func.vjp(lambda v: f(v, t), x)[1](g)[0]

    def last(f: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda x, t, g: back(f)(g, x, t)

    def divergence(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return F.kl_div(x, t, reduction="mean")

    def nll(x: torch.Tensor, t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return F.nll_loss(x, t.long()), torch.tensor(3.0)

    smooth, margin = F.smooth_l1_loss, F.soft_margin_loss
    entropy = F.binary_cross_entropy
    logits = F.binary_cross_entropy_with_logits
    cases = [
        TypeCase("BinaryCrossEntropy", (x, t), entropy),
        TypeCase("BinaryCrossEntropyGrad", (x, t, one), last(entropy)),
        TypeCase("SigmoidCrossEntropyWithLogitsV2", (x, t), logits),
        TypeCase("SigmoidCrossEntropyWithLogitsGradV2", (x, t, one), last(logits)),
        TypeCase("KLDiv", (x, t), divergence, {"reduction": "sum"}, computes=False),
        TypeCase("KlDivLossGrad", (one, x, t), back(divergence), computes=False),
        TypeCase("L1LossGrad", (one, x, t), back(F.l1_loss)),
        TypeCase("LpLoss", (x, t), F.l1_loss),
        TypeCase("MseLoss", (x, t), F.mse_loss),
        TypeCase("MseLossGrad", (x, t, one), last(F.mse_loss)),
        TypeCase("SmoothL1LossV2", (x, t), smooth),
        TypeCase("SmoothL1LossGradV2", (x, t, one), last(smooth)),
        TypeCase("SoftMarginLoss", (x, signs), margin),
        TypeCase("SoftMarginLossGrad", (x, signs, one), last(margin)),
        TypeCase("NLLLoss", (logs, classes), nll),
        TypeCase(
            "NLLLossGrad",
            (logs, one, classes, None, torch.tensor(3.0)),
            lambda x, g, t, _: back(lambda v, c: F.nll_loss(v, c.long()))(g, x, t),
        ),
        TypeCase(
            "MseLoss",
            (x, t),
            lambda x, t: F.mse_loss(x, t, reduction="none"),
            {"reduction": "none"},
        ),
    ]
    return cases


CASES: list[TypeCase] = [*_losses()]
