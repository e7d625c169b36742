"""Elementwise operators."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from tests.aclnn.type_cases.case import BX, BY, IX, IY, N, TypeCase, U, V, X, Y, normal


def _unary() -> list[TypeCase]:
    functions: dict[str, tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]] = {
        "Abs": (X, torch.abs),
        "Neg": (X, torch.neg),
        "Sign": (X, torch.sign),
        "Square": (X, torch.square),
        "Reciprocal": (U, torch.reciprocal),
        "Relu": (X, torch.relu),
        "Ceil": (X, torch.ceil),
        "Floor": (X, torch.floor),
        "Trunc": (X, torch.trunc),
        "LogicalNot": (BX, torch.logical_not),
        "IsFinite": (X, torch.isfinite),
        "HardSigmoid": (X, F.hardsigmoid),
        "HardSwish": (X, F.hardswish),
        "HardShrink": (X, F.hardshrink),
        "SoftShrink": (X, F.softshrink),
        "Sqrt": (U, torch.sqrt),
        "Rsqrt": (U, torch.rsqrt),
        "Exp": (X, torch.exp),
        "Expm1": (X, torch.expm1),
        "Log1p": (U, torch.log1p),
        "Sin": (X, torch.sin),
        "Cos": (X, torch.cos),
        "Tan": (U, torch.tan),
        "Asin": (U, torch.asin),
        "Acos": (U, torch.acos),
        "Atan": (X, torch.atan),
        "Sinh": (X, torch.sinh),
        "Cosh": (X, torch.cosh),
        "Tanh": (X, torch.tanh),
        "Asinh": (X, torch.asinh),
        "Acosh": (U + 1, torch.acosh),
        "Atanh": (U * 0.9, torch.atanh),
        "Sigmoid": (X, torch.sigmoid),
        "Erf": (X, torch.erf),
        "Erfc": (X, torch.erfc),
        "Erfinv": (U, torch.erfinv),
        "Gelu": (X, F.gelu),
        "Mish": (X, F.mish),
        "LogSigmoid": (X, F.logsigmoid),
        "Invert": (IX, torch.bitwise_not),
        "CeluV2": (X, F.celu),
        "Elu": (X, F.elu),
        "LeakyRelu": (X, F.leaky_relu),
        "Log": (U, torch.log),
        "Selu": (X, F.selu),
        "SoftplusV2": (X, F.softplus),
        "Swish": (X, F.silu),
        "ThresholdV2D": (X, lambda x: F.threshold(x, 0.0, 0.0)),
        "Round": (X, torch.round),
        "OnesLike": (X, torch.ones_like),
        "ZerosLike": (X, torch.zeros_like),
        "NanToNum": (X, torch.nan_to_num),
        "Identity": (X, torch.clone),
        "TransData": (X, torch.clone),
        "Tril": (X, torch.tril),
        "Triu": (X, torch.triu),
        "Trace": (normal(4, 6), torch.trace),
        "LpNormUpdateV2": (X, torch.clone),
        "DropOutDoMask": (X, torch.clone),
    }
    functions.pop("DropOutDoMask")
    cases = [TypeCase(name, (x,), f) for name, (x, f) in functions.items()]
    cases += [TypeCase(name, (IX,), functions[name][1]) for name in ("Sqrt", "Exp", "Sin")]
    return cases


def _binary() -> list[TypeCase]:
    functions = {
        "Add": (X, Y, torch.add),
        "Sub": (X, Y, torch.sub),
        "Mul": (X, Y, torch.mul),
        "RealDiv": (X, V, torch.div),
        "FloorDiv": (X, V, torch.floor_divide),
        "TruncateDiv": (X, V, lambda x, y: torch.div(x, y, rounding_mode="trunc")),
        "Mod": (X, V, torch.fmod),
        "FloorMod": (X, V, torch.remainder),
        "Maximum": (X, Y, torch.maximum),
        "Minimum": (X, Y, torch.minimum),
        "Equal": (X, Y, torch.eq),
        "NotEqual": (X, Y, torch.ne),
        "Greater": (X, Y, torch.gt),
        "GreaterEqual": (X, Y, torch.ge),
        "Less": (X, Y, torch.lt),
        "LessEqual": (X, Y, torch.le),
        "LogicalAnd": (BX, BY, torch.logical_and),
        "LogicalOr": (BX, BY, torch.logical_or),
        "BitwiseAnd": (IX, IY, torch.bitwise_and),
        "BitwiseOr": (IX, IY, torch.bitwise_or),
        "BitwiseXor": (IX, IY, torch.bitwise_xor),
        "LeftShift": (IX, IY, torch.bitwise_left_shift),
        "RightShift": (IX, IY, torch.bitwise_right_shift),
        "Pow": (U, Y, torch.pow),
        "Atan2": (X, Y, torch.atan2),
        "LogAddExp": (X, Y, torch.logaddexp),
        "Xlogy": (X, V, torch.xlogy),
        "IsClose": (X, Y, torch.isclose),
    }
    cases = [TypeCase(name, (a, b), f) for name, (a, b, f) in functions.items()]
    cases += [
        TypeCase("Add", (IX, IY), torch.add),
        TypeCase("Add", (X, N(2)), lambda x: x + 2.0),
        TypeCase("Mul", (IX, N(1.5)), lambda x: x * 1.5),
        TypeCase("RealDiv", (IX, IY), torch.div),
        TypeCase("Pow", (U, N(2)), lambda x: x**2.0),
        TypeCase("AxpyV2", (X, Y, N(3)), lambda x, y: x + 3 * y),
        TypeCase("Addcmul", (X, X, Y, N(2)), lambda a, b, c: torch.addcmul(a, b, c, value=2)),
        TypeCase("Addcdiv", (X, X, V, N(2)), lambda a, b, c: torch.addcdiv(a, b, c, value=2)),
        TypeCase("Lerp", (X, X + 1, N(0.25)), lambda a, b: torch.lerp(a, b, 0.25)),
        TypeCase("Lerp", (X, X + 1, V), torch.lerp),
        TypeCase("ClipByValue", (X, N(-0.5), N(0.5)), lambda x: x.clamp(-0.5, 0.5)),
        TypeCase("ClipByValueV2", (X, N(-0.5), N(0.5)), lambda x: x.clamp(-0.5, 0.5)),
        TypeCase("MaskedFill", (X, BX, N(7)), lambda x, mask: x.masked_fill(mask, 7)),
        TypeCase("Select", (BX, X, Y), torch.where),
        TypeCase("Cast", (X,), lambda x: x.to(torch.float16), {"dst_type": 1}),
        TypeCase("Cast", (IX,), lambda x: x.to(torch.int64), {"dst_type": 9}),
    ]
    floats, ints = (torch.zeros(8), torch.zeros(8, dtype=torch.int32))
    cases += [
        TypeCase("NPUAllocFloatStatus", (), lambda: floats),
        TypeCase("NPUClearFloatStatus", (floats,), lambda x: floats),
        TypeCase("NPUGetFloatStatus", (floats,), lambda x: floats),
        TypeCase("NPUGetFloatDebugStatus", (), lambda: ints),
        TypeCase("NPUGetFloatStatusV2", (), lambda: ints),
        TypeCase("NPUClearFloatDebugStatus", (), lambda: ()),
        TypeCase("NPUClearFloatStatusV2", (), lambda: ()),
    ]
    return cases


CASES: list[TypeCase] = [*_unary(), *_binary()]
