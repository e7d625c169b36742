"""Elementwise operators."""

import math
from functools import partial

import torch

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import (
    Lower,
    Scalar,
    aten,
    common_dtype,
    floating,
    known,
    operand,
    tensor,
)

_UNARY = {
    aten.abs: "Abs",
    aten.neg: "Neg",
    aten.relu: "Relu",
    aten.ceil: "Ceil",
    aten.floor: "Floor",
    aten.trunc: "Trunc",
    aten.sign: "Sign",
    aten.hardsigmoid: "HardSigmoid",
    aten.hardswish: "HardSwish",
    aten.mish: "Mish",
    aten.silu: "Swish",
    aten.round: "Round",
}
_FLOATING = {
    aten.sqrt: "Sqrt",
    aten.rsqrt: "Rsqrt",
    aten.exp: "Exp",
    aten.expm1: "Expm1",
    aten.log: "Log",
    aten.log1p: "Log1p",
    aten.sin: "Sin",
    aten.cos: "Cos",
    aten.tan: "Tan",
    aten.asin: "Asin",
    aten.acos: "Acos",
    aten.atan: "Atan",
    aten.sinh: "Sinh",
    aten.cosh: "Cosh",
    aten.tanh: "Tanh",
    aten.sigmoid: "Sigmoid",
    aten.asinh: "Asinh",
    aten.acosh: "Acosh",
    aten.atanh: "Atanh",
    aten.erf: "Erf",
    aten.erfc: "Erfc",
    aten.erfinv: "Erfinv",
    aten.reciprocal: "Reciprocal",
}
_BINARY = {
    aten.mul: "Mul",
    aten.maximum: "Maximum",
    aten.minimum: "Minimum",
    aten.bitwise_and: "BitwiseAnd",
    aten.bitwise_or: "BitwiseOr",
    aten.bitwise_xor: "BitwiseXor",
}
_COMPARISONS = {
    aten.eq: "Equal",
    aten.ne: "NotEqual",
    aten.gt: "Greater",
    aten.ge: "GreaterEqual",
    aten.lt: "Less",
    aten.le: "LessEqual",
}


def _unary(kind: str, b: GraphBuilder, x: Ref) -> Ref:
    return b.emit(kind, x)


def _floating(kind: str, b: GraphBuilder, x: Ref) -> Ref:
    return b.emit(kind, b.cast(x, floating(x.dtype)))


def _operands(b: GraphBuilder, *values: Ref | Scalar, dtype: torch.dtype | None = None) -> list:
    dtype = common_dtype(*values) if dtype is None else dtype
    known(not dtype.is_complex, "complex numbers")
    return [operand(b, value, dtype) for value in values]


def _binary(kind: str, b: GraphBuilder, x: Ref | Scalar, y: Ref | Scalar) -> Ref:
    return b.emit(kind, *_operands(b, x, y))


def _sum(kind: str, b: GraphBuilder, x: Ref, y: Ref | Scalar, *, alpha: Scalar = 1) -> Ref:
    dtype = common_dtype(x, y)
    left, right = _operands(b, x, y)
    if alpha != 1:
        known(isinstance(y, Ref), "alpha with a number")
        right = b.emit("Mul", right, b.number(alpha, dtype))
    return b.emit(kind, left, right)


def _rsub(b: GraphBuilder, x: Ref, y: Ref | Scalar, alpha: Scalar = 1) -> Ref:
    known(alpha == 1, "alpha")
    left, right = _operands(b, x, y)
    return b.emit("Sub", right, left)


def _div(
    b: GraphBuilder, x: Ref | Scalar, y: Ref | Scalar, *, rounding_mode: str | None = None
) -> Ref:
    dtype = common_dtype(x, y)
    if rounding_mode is None:
        return b.emit("RealDiv", *_operands(b, x, y, dtype=floating(dtype)))
    kind = "FloorDiv" if rounding_mode == "floor" else "TruncateDiv"
    return b.emit(kind, *_operands(b, x, y, dtype=dtype))


def _power(b: GraphBuilder, x: Ref | Scalar, y: Ref | Scalar) -> Ref:
    dtype = common_dtype(x, y)
    if isinstance(x, Ref) and not isinstance(y, Ref) and y == 2:
        return b.emit("Square", b.cast(x, dtype))
    known(dtype.is_floating_point, "powers of integers")
    return b.emit("Pow", *_operands(b, x, y, dtype=dtype))


def _compare(kind: str, b: GraphBuilder, x: Ref, y: Ref | Scalar) -> Ref:
    return b.emit(kind, *_operands(b, x, y))


def _logical(kind: str, b: GraphBuilder, x: Ref, y: Ref) -> Ref:
    return b.emit(kind, b.cast(x, torch.bool), b.cast(y, torch.bool))


def _where(b: GraphBuilder, condition: Ref, x: Ref | Scalar, y: Ref | Scalar) -> Ref:
    dtype = common_dtype(x, y)
    return b.emit("Select", b.cast(condition, torch.bool), tensor(b, x, dtype), tensor(b, y, dtype))


def _masked_fill(b: GraphBuilder, x: Ref, mask: Ref, value: Ref | Scalar) -> Ref:
    return b.emit("Select", mask, tensor(b, value, x.dtype), x)


def _clamp(
    b: GraphBuilder, x: Ref, low: Ref | Scalar | None = None, high: Ref | Scalar | None = None
) -> Ref:
    dtype = common_dtype(x, *(bound for bound in (low, high) if bound is not None))
    x = b.cast(x, dtype)
    if low is not None:
        x = b.emit("Maximum", x, operand(b, low, dtype))
    if high is not None:
        x = b.emit("Minimum", x, operand(b, high, dtype))
    return x


def _hardtanh(b: GraphBuilder, x: Ref, low: Scalar = -1, high: Scalar = 1) -> Ref:
    return _clamp(b, x, low, high)


def gelu(b: GraphBuilder, x: Ref, *, approximate: str = "none") -> Ref:
    """As ``torch.nn.functional.gelu``; "tanh" is spelled out."""
    if approximate == "none":
        return b.emit("Gelu", x)
    known(x.dtype in (torch.float32, torch.float64), "GELU by tanh in half precision")
    cubic = b.emit("Mul", b.emit("Mul", b.emit("Square", x), x), b.number(0.044715, x.dtype))
    inner = b.emit("Mul", b.emit("Add", x, cubic), b.number(math.sqrt(2 / math.pi), x.dtype))
    one = b.emit("Add", b.emit("Tanh", inner), b.number(1.0, x.dtype))
    return b.emit("Mul", b.emit("Mul", x, b.number(0.5, x.dtype)), one)


def _leaky_relu(b: GraphBuilder, x: Ref, slope: Scalar = 0.01) -> Ref:
    return b.emit("LeakyRelu", x, negative_slope=float(slope))


def _elu(b: GraphBuilder, x: Ref, alpha: Scalar = 1, scale: Scalar = 1, inner: Scalar = 1) -> Ref:
    return b.emit("Elu", x, alpha=float(alpha), scale=float(scale), input_scale=float(inner))


def _softplus(b: GraphBuilder, x: Ref, beta: Scalar = 1, threshold: Scalar = 20) -> Ref:
    return b.emit("SoftplusV2", x, beta=float(beta), threshold=float(threshold))


def _to_copy(
    b: GraphBuilder,
    x: Ref,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    **_: object,
) -> Ref:
    known(device is None or torch.device(device).type == "npu", f"a copy to {device}")
    return x if dtype is None else b.cast(x, dtype)


def _convert(b: GraphBuilder, x: Ref, dtype: torch.dtype) -> Ref:
    return b.cast(x, dtype)


def _copy(b: GraphBuilder, x: Ref, source: Ref, _non_blocking: bool = False) -> Ref:
    return b.broadcast(b.cast(source, x.dtype), x.shape)


def _same(b: GraphBuilder, x: Ref, **_: object) -> Ref:
    return x


def _not(b: GraphBuilder, x: Ref) -> Ref:
    return b.emit("LogicalNot" if x.dtype == torch.bool else "Invert", x)


def _is_nan(b: GraphBuilder, x: Ref) -> Ref:
    return b.emit("NotEqual", x, x)


def _is_infinite(b: GraphBuilder, x: Ref) -> Ref:
    known(x.dtype.is_floating_point, "infinities of integers")
    return b.emit("Equal", b.emit("Abs", x), b.number(math.inf, x.dtype))


def _logarithm(base: float) -> Lower:
    def lower(b: GraphBuilder, x: Ref) -> Ref:
        return b.emit("Log", b.cast(x, floating(x.dtype)), base=base)

    return lower


def _round(b: GraphBuilder, x: Ref, *, decimals: int) -> Ref:
    return b.emit("Round", x, decimals=decimals)


def _scaled_product(kind: str) -> Lower:
    def lower(b: GraphBuilder, x: Ref, first: Ref, second: Ref, *, value: Scalar = 1) -> Ref:
        dtype = common_dtype(x, first, second)
        known(dtype.is_floating_point, "integers")
        operands = (b.cast(one, dtype) for one in (x, first, second))
        return b.emit(kind, *operands, b.number(value, dtype))

    return lower


def _atan2(b: GraphBuilder, y: Ref, x: Ref) -> Ref:
    dtype = floating(common_dtype(y, x))
    return b.emit("Atan2", b.cast(y, dtype), b.cast(x, dtype))


def _threshold(b: GraphBuilder, x: Ref, threshold: Scalar, value: Scalar) -> Ref:
    above = b.emit("LessEqual", x, operand(b, threshold, x.dtype))
    return b.emit("Select", above, tensor(b, value, x.dtype), x)


ELEMENTWISE: dict[object, Lower] = {
    **{op.default: partial(_unary, kind) for op, kind in _UNARY.items()},
    **{op.default: partial(_floating, kind) for op, kind in _FLOATING.items()},
    **{
        getattr(op, overload): partial(_binary, kind)
        for op, kind in _BINARY.items()
        for overload in ("default", "Tensor", "Scalar")
        if overload in op.overloads()
    },
    **{
        getattr(op, overload): partial(_compare, kind)
        for op, kind in _COMPARISONS.items()
        for overload in ("Tensor", "Scalar")
    },
    aten.add.Tensor: partial(_sum, "Add"),
    aten.add.Scalar: partial(_sum, "Add"),
    aten.sub.Tensor: partial(_sum, "Sub"),
    aten.sub.Scalar: partial(_sum, "Sub"),
    aten.rsub.Scalar: _rsub,
    aten.rsub.Tensor: _rsub,
    aten.div.Tensor: _div,
    aten.div.Scalar: _div,
    aten.div.Tensor_mode: _div,
    aten.div.Scalar_mode: _div,
    aten.fmod.Tensor: partial(_binary, "Mod"),
    aten.fmod.Scalar: partial(_binary, "Mod"),
    aten.remainder.Tensor: partial(_binary, "FloorMod"),
    aten.remainder.Scalar: partial(_binary, "FloorMod"),
    aten.pow.Tensor_Scalar: _power,
    aten.pow.Tensor_Tensor: _power,
    aten.pow.Scalar: _power,
    aten.logical_and.default: partial(_logical, "LogicalAnd"),
    aten.logical_or.default: partial(_logical, "LogicalOr"),
    aten.logical_not.default: partial(_unary, "LogicalNot"),
    aten.bitwise_not.default: _not,
    aten.logical_xor.default: partial(_logical, "NotEqual"),
    aten.isnan.default: _is_nan,
    aten.isinf.default: _is_infinite,
    aten.log2.default: _logarithm(2),
    aten.log10.default: _logarithm(10),
    aten.round.decimals: _round,
    aten.atan2.default: _atan2,
    aten.threshold.default: _threshold,
    aten.addcmul.default: _scaled_product("Addcmul"),
    aten.addcdiv.default: _scaled_product("Addcdiv"),
    aten.where.self: _where,
    aten.where.ScalarSelf: _where,
    aten.where.ScalarOther: _where,
    aten.masked_fill.Scalar: _masked_fill,
    aten.masked_fill.Tensor: _masked_fill,
    aten.clamp.default: _clamp,
    aten.clamp.Tensor: _clamp,
    aten.clamp_min.default: _clamp,
    aten.clamp_max.default: lambda b, x, high: _clamp(b, x, None, high),
    aten.hardtanh.default: _hardtanh,
    aten.relu6.default: lambda b, x: _clamp(b, x, 0, 6),
    aten.gelu.default: gelu,
    aten.leaky_relu.default: _leaky_relu,
    aten.elu.default: _elu,
    aten.softplus.default: _softplus,
    aten._to_copy.default: _to_copy,
    torch.ops.prims.convert_element_type.default: _convert,
    aten.copy.default: _copy,
    aten.clone.default: _same,
    aten.alias.default: _same,
    aten.detach.default: _same,
    aten.lift_fresh_copy.default: _same,
    aten.contiguous.default: _same,
}
