"""References of the elementwise operators in PyTorch's functions: name -> (tensors, scalars, function)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from tests.aclnn.entries import implied_references
from tests.aclnn.library import family, operators

A = torch.ops.aten


@dataclass(frozen=True)
class Reference:
    """``function(*tensors, *scalars)``, where ``scalars`` are samples of the operator's other arguments."""

    tensors: int
    function: Callable[..., torch.Tensor]
    scalars: Sequence[tuple] = ((),)
    # The inputs are drawn from [low, high].
    low: float = -3.0
    high: float = 3.0


def _one(function: Callable, scalars: Sequence[tuple] = ((),), **limits: float) -> Reference:
    return Reference(1, function, scalars, **limits)


def _two(function: Callable, scalars: Sequence[tuple] = ((),), **limits: float) -> Reference:
    return Reference(2, function, scalars, **limits)


def _is_close(a: torch.Tensor, b: torch.Tensor, *how: float) -> torch.Tensor:
    """Half types are compared as float32: PyTorch's own rounds the difference first."""
    half = a.dtype in (torch.float16, torch.bfloat16)
    return torch.isclose(*(x.float() if half else x for x in (a, b)), *how)


def _hardsigmoid_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """By its definition in double precision: PyTorch's own uses a sixth that is rounded to float32."""
    own = A.hardsigmoid_backward(grad, x)
    return torch.where(x.abs() < 3, grad / 6, 0) if x.dtype is torch.float64 else own


_MODES = {0: None, 1: "trunc", 2: "floor"}

# Tensors first, as in the ABI. In forms with a scalar operand, the scalar is among ``scalars``.
REFERENCES: dict[str, Reference] = {
    "Abs": _one(torch.abs),
    "Neg": _one(torch.neg),
    "Sign": _one(lambda x: torch.sgn(x)),
    "Reciprocal": _one(torch.reciprocal, low=0.1),
    "Relu": _one(torch.relu),
    "Ceil": _one(torch.ceil),
    "Floor": _one(torch.floor),
    "Trunc": _one(torch.trunc),
    "Round": _one(torch.round),
    "Frac": _one(torch.frac),
    "BitwiseNot": _one(torch.bitwise_not),
    "LogicalNot": _one(torch.logical_not),
    "IsFinite": _one(torch.isfinite),
    "IsPosInf": _one(torch.isposinf),
    "IsNegInf": _one(torch.isneginf),
    "Signbit": _one(torch.signbit),
    "Hardsigmoid": _one(F.hardsigmoid, low=-5, high=5),
    "Hardswish": _one(F.hardswish, low=-5, high=5),
    "Threshold": _one(F.threshold, [(1, 7)]),
    "LeakyRelu": _one(F.leaky_relu, [(0.2,)]),
    "Hardtanh": _one(F.hardtanh, [(-1, 2)]),
    "Hardshrink": _one(F.hardshrink, [(0.5,)]),
    "Softshrink": _one(F.softshrink, [(0.5,)]),
    "Mish": _one(F.mish),
    "Silu": _one(F.silu),
    "Gelu": _one(F.gelu),
    "Softplus": _one(F.softplus, [(1, 20), (8, 4)]),
    "Elu": _one(A.elu, [(1.5, 1.1, 0.7)]),
    "Celu": _one(F.celu, [(1.3,)]),
    "GeluV2": _one(lambda x, mode: F.gelu(x, approximate=("none", "tanh")[mode]), [(0,), (1,)]),
    "RoundDecimals": _one(lambda x, n: torch.round(x, decimals=n), [(0,), (2,), (-1,)]),
    "NanToNum": _one(torch.nan_to_num, [(0.5, 2.0, -2.0)]),
    "Clamp": _one(torch.clamp, [(-1, 2), (None, 1), (0, None)]),
    "ClampMin": _one(torch.clamp_min, [(1,)]),
    "ClampMax": _one(torch.clamp_max, [(1,)]),
    "Sqrt": _one(torch.sqrt, low=0),
    "Rsqrt": _one(torch.rsqrt, low=0.1),
    "Exp": _one(torch.exp),
    "Exp2": _one(torch.exp2),
    "Expm1": _one(torch.expm1),
    "Log": _one(torch.log, low=0.1),
    "Log2": _one(torch.log2, low=0.1),
    "Log10": _one(torch.log10, low=0.1),
    "Log1p": _one(torch.log1p, low=-0.9),
    "Sin": _one(torch.sin),
    "Cos": _one(torch.cos),
    "Tan": _one(torch.tan, low=-1.4, high=1.4),
    "Asin": _one(torch.asin, low=-1, high=1),
    "Acos": _one(torch.acos, low=-1, high=1),
    "Atan": _one(torch.atan),
    "Sinh": _one(torch.sinh),
    "Cosh": _one(torch.cosh),
    "Tanh": _one(torch.tanh),
    "Asinh": _one(torch.asinh),
    "Acosh": _one(torch.acosh, low=1.1, high=9),
    "Atanh": _one(torch.atanh, low=-0.9, high=0.9),
    "Erf": _one(torch.erf),
    "Erfc": _one(torch.erfc),
    "Erfinv": _one(torch.erfinv, low=-0.99, high=0.99),
    "Sigmoid": _one(torch.sigmoid),
    "Sinc": _one(torch.sinc),
    "Logit": _one(
        lambda x, eps: torch.logit(x, None if eps < 0 else eps),
        [(0.1,), (-1.0,)],
        low=0.05,
        high=0.95,
    ),
    "Add": _two(lambda a, b, alpha: torch.add(a, b, alpha=alpha), [(1,), (3,)]),
    "Sub": _two(lambda a, b, alpha: torch.sub(a, b, alpha=alpha), [(1,), (2,)]),
    "Rsub": _two(lambda a, b, alpha: torch.rsub(a, b, alpha=alpha), [(1,), (2,)]),
    "Adds": _one(lambda a, b, alpha: torch.add(a, b, alpha=alpha), [(1, 1), (2.5, 1), (2, 3)]),
    "Subs": _one(lambda a, b, alpha: torch.sub(a, b, alpha=alpha), [(1, 1), (2.5, 1), (2, 3)]),
    "Rsubs": _one(lambda a, b, alpha: torch.rsub(a, b, alpha), [(1, 1), (2.5, 1), (2, 3)]),
    "Mul": _two(torch.mul),
    "Muls": _one(torch.mul, [(3,), (2.5,)]),
    "Div": _two(torch.div, low=0.5),
    "Divs": _one(torch.div, [(2,), (2.5,)]),
    "DivMod": _two(
        lambda a, b, mode: torch.div(a, b, rounding_mode=_MODES[mode]), [(0,), (1,), (2,)], low=1
    ),
    "DivMods": _one(
        lambda a, b, mode: torch.div(a, b, rounding_mode=_MODES[mode]), [(2, 0), (2, 1), (-2, 2)]
    ),
    "FloorDivide": _two(torch.floor_divide, low=1),
    "FloorDivides": _one(torch.floor_divide, [(2,), (-2,)]),
    "FmodTensor": _two(torch.fmod, low=1),
    "FmodScalar": _one(torch.fmod, [(2,), (-2,)]),
    "RemainderTensorTensor": _two(torch.remainder, low=1),
    "RemainderTensorScalar": _one(torch.remainder, [(2,), (-2,)]),
    "Maximum": _two(torch.maximum),
    "Minimum": _two(torch.minimum),
    "ClampMinTensor": _two(torch.maximum),
    "ClampMaxTensor": _two(torch.minimum),
    "PowTensorTensor": _two(torch.pow, low=0.5),
    "PowTensorScalar": _one(torch.pow, [(2,), (3,), (0.5,), (-0.5,), (-1.0,), (2.5,)], low=0.5),
    "Atan2": _two(torch.atan2),
    "LogicalAnd": _two(torch.logical_and),
    "LogicalOr": _two(torch.logical_or),
    "LogicalXor": _two(torch.logical_xor),
    "LeftShift": _two(torch.bitwise_left_shift, low=0),
    "RightShift": _two(torch.bitwise_right_shift, low=0),
    "XLogYTensor": _two(torch.xlogy, low=0),
    "XLogYScalarOther": _one(torch.xlogy, [(2.5,)], low=0),
    "LogAddExp": _two(torch.logaddexp),
    "LogAddExp2": _two(torch.logaddexp2),
    "Gcd": _two(torch.gcd),
    "IsClose": _two(_is_close, [(0.3, 0.1, False), (0.0, 0.5, True)]),
    "SWhere": Reference(3, lambda c, a, b: torch.where(c.bool(), a, b)),
    "Addcmul": Reference(3, lambda a, b, c, v: torch.addcmul(a, b, c, value=v), [(1,), (2,)]),
    "Addcdiv": Reference(
        3, lambda a, b, c, v: torch.addcdiv(a, b, c, value=v), [(1,), (2,)], low=0.5
    ),
    "Lerp": Reference(3, torch.lerp),
    "Lerps": _two(torch.lerp, [(0.3,), (0.7,)]),
    "ClampTensor": Reference(3, torch.clamp),
    "SigmoidBackward": _two(A.sigmoid_backward),
    "TanhBackward": _two(A.tanh_backward),
    "ThresholdBackward": _two(A.threshold_backward, [(1,)]),
    "HardtanhBackward": _two(A.hardtanh_backward, [(-1, 2)]),
    "HardsigmoidBackward": _two(_hardsigmoid_backward, low=-5, high=5),
    "HardswishBackward": _two(A.hardswish_backward, low=-5, high=5),
    "HardswishBackwardV2": _two(A.hardswish_backward, low=-5, high=5),
    "HardshrinkBackward": _two(A.hardshrink_backward, [(0.5,)]),
    "SoftshrinkBackward": _two(A.softshrink_backward, [(0.5,)]),
    "SiluBackward": _two(A.silu_backward),
    "GeluBackward": _two(A.gelu_backward),
    "MishBackward": _two(A.mish_backward),
    "SoftplusBackward": _two(A.softplus_backward, [(1, 20), (8, 4)]),
    "GeluBackwardV2": _two(
        lambda g, x, how: A.gelu_backward(g, x, approximate=how), [("none",), ("tanh",)]
    ),
    "LeakyReluBackward": _two(A.leaky_relu_backward, [(0.2, False), (0.2, True)]),
    "LogitGrad": _two(lambda x, g, eps: A.logit_backward(g, x, eps), [(0.1,)], low=0.05, high=0.95),
}
for _name in ("Eq", "Ne", "Gt", "Ge", "Lt", "Le"):
    REFERENCES[f"{_name}Tensor"] = _two(getattr(torch, _name.lower()))
    REFERENCES[f"{_name}Scalar"] = _one(getattr(torch, _name.lower()), [(1,), (0.5,)])
for _name in ("And", "Or", "Xor"):
    REFERENCES[f"Bitwise{_name}Tensor"] = _two(getattr(torch, f"bitwise_{_name.lower()}"))
    REFERENCES[f"Bitwise{_name}Scalar"] = _one(getattr(torch, f"bitwise_{_name.lower()}"), [(5,)])
# Tested separately in test_elementwise.py: they are not functions of only tensors and numbers.
BY_HAND = {
    "aclnnCast",
    "aclnnInplaceCopy",
    "aclnnInplaceZero",
    "aclnnInplaceOne",
    "aclnnInplaceFillScalar",
    "aclnnInplaceFillTensor",
    "aclnnInplaceMaskedFillScalar",
    "aclnnInplaceMaskedFillTensor",
    "aclnnRemainderScalarTensor",
    "aclnnPowScalarTensor",
    "aclnnXLogYScalarSelf",
    "aclnnEluBackward",
    "aclnnLogSigmoidForward",
    "aclnnLogSigmoidBackward",
}
# References that entries of npu_native_functions.yaml imply, unless there is a row above.
for _function, (_tensors, _call, _samples) in implied_references():
    if _function in operators() and family(_function) == "elementwise" and _function not in BY_HAND:
        REFERENCES.setdefault(_function.removeprefix("aclnn"), Reference(_tensors, _call, _samples))
