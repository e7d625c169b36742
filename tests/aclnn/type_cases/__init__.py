"""Calls of operators by their type, each with PyTorch's result: at least one for every row of the registry."""

from tests.aclnn.type_cases import (
    clients,
    elementwise,
    gradients,
    losses,
    networks,
    norms,
    others,
    reductions,
    shapes,
)
from tests.aclnn.type_cases.case import TypeCase

__all__ = ["CASES", "TypeCase"]

CASES: list[TypeCase] = [
    *elementwise.CASES,
    *gradients.CASES,
    *reductions.CASES,
    *shapes.CASES,
    *networks.CASES,
    *norms.CASES,
    *losses.CASES,
    *others.CASES,
    *clients.CASES,
]
