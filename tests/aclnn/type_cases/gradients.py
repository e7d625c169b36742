"""Gradients of elementwise operators."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from tests.aclnn.type_cases.case import TypeCase, X, normal


def _gradient(f: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The gradient of ``f`` at ``x`` times ``grad``."""

    def of(grad: torch.Tensor, x: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
        return torch.func.vjp(f, x)[1](grad)[0]

    return of


def _gradients() -> list[TypeCase]:
    g = normal(2, 3, 5, seed=5)

    def swapped(f: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda x, grad: _gradient(f)(grad, x)

    sigmoid, tanh = torch.sigmoid(X), torch.tanh(X)
    return [
        TypeCase("SigmoidGrad", (sigmoid, g), lambda y, grad: grad * y * (1 - y)),
        TypeCase("TanhGrad", (tanh, g), lambda y, grad: grad * (1 - y * y)),
        TypeCase("HardSigmoidGrad", (g, X), _gradient(F.hardsigmoid)),
        TypeCase("HardSwishGrad", (g, X), _gradient(F.hardswish)),
        TypeCase("SiluGrad", (g, X), _gradient(F.silu)),
        TypeCase("SwishGrad", (g, X, X), _gradient(F.silu)),
        TypeCase("GeluGrad", (g, X, X), _gradient(F.gelu)),
        TypeCase("MishGrad", (g, X), _gradient(F.mish)),
        TypeCase("LogSigmoidGrad", (g, X), _gradient(F.logsigmoid)),
        TypeCase("EluGradV2", (g, X), _gradient(F.elu)),
        TypeCase("HardShrinkGrad", (g, X), _gradient(F.hardshrink)),
        TypeCase("SoftShrinkGrad", (g, X), _gradient(F.softshrink)),
        TypeCase("HardtanhGrad", (X, g), swapped(F.hardtanh)),
        TypeCase("LeakyReluGrad", (g, X), _gradient(F.leaky_relu)),
        TypeCase("ReluGrad", (g, X), _gradient(F.relu)),
        TypeCase("SoftplusV2Grad", (g, X), _gradient(F.softplus)),
        TypeCase("ThresholdGradV2D", (g, X), _gradient(lambda x: F.threshold(x, 0.0, 0.0))),
    ]


CASES: list[TypeCase] = [*_gradients()]
