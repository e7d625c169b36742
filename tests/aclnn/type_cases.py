"""Calls of operators by their type, each with PyTorch's result: at least one for every row of the registry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F

from tests.aclnn.types import Host, Operand

N, H = Host.number, Host.of
Result = torch.Tensor | Sequence[torch.Tensor]


@dataclass(frozen=True)
class TypeCase:
    """A call. ``expect`` takes the tensors among the inputs, without those in host memory."""

    name: str
    inputs: Sequence[Operand]
    expect: Callable[..., Result]
    attributes: Mapping[str, object] = field(default_factory=dict)
    computes: bool = True  # False: only the sizes and types are compared
    in_place: Mapping[int, int] = field(default_factory=dict)


def _t(*sizes: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sizes, generator=generator).to(dtype)


def _p(*sizes: int, seed: int = 0) -> torch.Tensor:
    """Values within (0, 1)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(sizes, generator=generator) * 0.9 + 0.05


def _i(high: int, *sizes: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(high, sizes, generator=generator).to(dtype)


X, Y = _t(2, 3, 5), _t(3, 1, seed=1)
U, V = _p(2, 3, 5), _p(3, 1, seed=1)
IX, IY = _i(7, 2, 3, dtype=torch.int32) + 1, _i(5, 3, dtype=torch.int32) + 1
BX, BY = X > 0, Y > 0
IMAGE, VOLUME = _t(2, 4, 8, 9), _t(2, 4, 5, 6, 7)


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
        "Trace": (_t(4, 6), torch.trace),
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


def _gradient(f: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The gradient of ``f`` at ``x`` times ``grad``."""

    def of(grad: torch.Tensor, x: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
        return torch.func.vjp(f, x)[1](grad)[0]

    return of


def _gradients() -> list[TypeCase]:
    g = _t(2, 3, 5, seed=5)

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


def _reductions() -> list[TypeCase]:
    cases = []
    named = {
        "ReduceSum": torch.sum,
        "ReduceMean": torch.mean,
        "ReduceMax": torch.amax,
        "ReduceMin": torch.amin,
        "ReduceLogSumExp": torch.logsumexp,
        "ReduceProd": torch.prod,
    }
    for name, f in named.items():
        for dim, keep in ((1, False), (-1, True)):
            cases.append(
                TypeCase(
                    name,
                    (X, H(dim)),
                    lambda x, f=f, dim=dim, keep=keep: f(x, dim=dim, keepdim=keep),
                    {"keep_dims": keep},
                )
            )
    cases += [
        TypeCase("ReduceSum", (X, H(0, 2)), lambda x: x.sum((0, 2))),
        TypeCase("ReduceSum", (X, H()), torch.sum),
        TypeCase("ReduceAll", (BX, H(1)), lambda x: x.all(1)),
        TypeCase("ReduceAny", (BX, H(1)), lambda x: x.any(1, keepdim=True), {"keep_dims": True}),
        TypeCase("ReduceMeanD", (X,), lambda x: x.mean((0, 1)), {"axes": [0, 1]}),
        TypeCase("LpNormReduceV2", (X,), lambda x: x.norm(2, 1), {"p": 2.0, "axes": [1]}),
        TypeCase("ArgMaxV2", (X, N(1, torch.int64)), lambda x: x.argmax(1)),
        TypeCase("ArgMin", (X, N(2, torch.int64)), lambda x: x.argmin(2)),
        TypeCase("ArgMaxWithValue", (X,), lambda x: x.max(1)[::-1], {"dimension": 1}),
        TypeCase("ArgMinWithValue", (X,), lambda x: x.min(2)[::-1], {"dimension": 2}),
        TypeCase("Cummax", (X,), lambda x: torch.cummax(x, 1), {"dim": 1}),
        TypeCase("Cummin", (X,), lambda x: torch.cummin(x, 1), {"axis": 1}),
        TypeCase("Cumsum", (X, N(1, torch.int64)), lambda x: x.cumsum(1)),
        TypeCase("Cumprod", (X, N(1, torch.int64)), lambda x: x.cumprod(1)),
        TypeCase("ReduceStdWithMean", (X, X), lambda x, m: x.std(1), {"dim": [1]}),
        TypeCase("ReduceStdV2Update", (X, X), lambda x, m: x.var(1), {"dim": [1]}),
    ]
    return cases


def _shapes() -> list[TypeCase]:
    pairs = H(0, 0, 1, 0, 2, 1)
    return [
        TypeCase(
            "AsStrided", (X, H(3, 4), H(5, 1), H(1)), lambda x: x.as_strided((3, 4), (5, 1), 1)
        ),
        TypeCase("BroadcastTo", (Y, H(2, 3, 5)), lambda x: x.expand(2, 3, 5)),
        TypeCase("ConcatD", (X, X), lambda a, b: torch.cat((a, b), 1), {"concat_dim": 1}),
        TypeCase("Pack", (X, X), lambda a, b: torch.stack((a, b), -1), {"axis": -1}),
        TypeCase("Eye", (), lambda: torch.eye(3, 4), {"num_rows": 3, "num_columns": 4}),
        TypeCase("Fill", (H(2, 3), N(1.5)), lambda: torch.full((2, 3), 1.5)),
        TypeCase("LinSpace", (N(0), N(1), H(5)), lambda: torch.linspace(0, 1, 5)),
        TypeCase("Range", (N(0), N(5), N(2)), lambda: torch.arange(0, 5, 2, dtype=torch.float32)),
        TypeCase(
            "MirrorPad",
            (X, H(0, 0, 0, 0, 2, 1)),
            lambda x: F.pad(x, (2, 1), mode="reflect"),
        ),
        TypeCase("Pad", (X, pairs), lambda x: F.pad(x, (2, 1, 1, 0, 0, 0))),
        TypeCase("PadV3", (X, pairs, N(3)), lambda x: F.pad(x, (2, 1, 1, 0, 0, 0), value=3)),
        TypeCase(
            "OneHot",
            (IX, N(9, torch.int32), N(1), N(0)),
            lambda x: F.one_hot(x.long(), 9).float(),
        ),
        TypeCase("ReverseV2", (X, H(1)), lambda x: x.flip(1)),
        TypeCase("Roll", (X,), lambda x: x.roll(2, 1), {"shifts": [2], "dims": [1]}),
        TypeCase("Slice", (X, H(0, 1, 2), H(2, 2, -1)), lambda x: x[:, 1:3, 2:]),
        TypeCase("Sort", (X,), lambda x: x.sort(1), {"axis": 1}),
        TypeCase("StridedSlice", (X, H(0, 0), H(2, 3), H(1, 2)), lambda x: x[0:2, 0:3:2]),
        TypeCase("Tile", (Y, H(2, 1, 3)), lambda x: x.repeat(2, 1, 3)),
        TypeCase("TopKV2", (X, H(2)), lambda x: x.topk(2)),
        TypeCase("Transpose", (X, H(2, 0, 1)), lambda x: x.permute(2, 0, 1)),
        TypeCase(
            "ViewCopy",
            (_t(4, 5), H(2, 5), H(5, 1), H(5), _t(2, 5, seed=9), H(2, 5), H(5, 1), H(0)),
            lambda to, source: torch.cat((to[:1], source, to[3:])),
            computes=False,
        ),
    ]


def _indexing() -> list[TypeCase]:
    rows = _i(3, 4)
    return [
        TypeCase(
            "EmbeddingDenseGrad",
            (_t(4, 6), rows),
            lambda g, i: torch.zeros(5, 6).index_add(0, i, g),
            {"num_weights": 5},
        ),
        TypeCase("GatherElements", (X, _i(3, 2, 2, 5)), lambda x, i: x.gather(1, i), {"dim": 1}),
        TypeCase("GatherV2", (X, rows, H(1)), lambda x, i: x.index_select(1, i)),
        TypeCase("GatherV2D", (X, rows), lambda x, i: x.index_select(1, i), {"axis": 1}),
        TypeCase("Index", (X, H(0, 1), H(0), rows), lambda x, i: x[:, i]),
        TypeCase("Index", (X, H(1, 0, 1), H(0), _i(2, 4), _i(5, 3, 4)), lambda x, i, j: x[i, :, j]),
        TypeCase(
            "IndexPutV2", (X, _t(2, 4, 5), H(0, 1), H(0), rows), lambda x, *_: x, computes=False
        ),
        TypeCase(
            "InplaceIndexAdd",
            (X, rows, _t(2, 4, 5)),
            lambda x, i, u: x.index_add(1, i, u),
            {"axis": 1},
        ),
        TypeCase("MaskedSelect", (X, BX), lambda x, m: x.masked_select(m), computes=False),
        TypeCase("NonZero", (BX,), torch.nonzero, computes=False),
        TypeCase(
            "ScatterElements",
            (X, _i(3, 2, 1, 5), _t(2, 1, 5)),
            lambda x, i, u: x.scatter(1, i, u),
            {"axis": 1},
        ),
    ]


def _products() -> list[TypeCase]:
    a, b, c = _t(4, 5), _t(5, 6), _t(6)
    p, q = _t(2, 1, 4, 5), _t(3, 5, 6)
    return [
        TypeCase("MatMul", (a, b), torch.mm),
        TypeCase("MatMulV2", (a, b, c), lambda x, y, z: x @ y + z),
        TypeCase(
            "MatMulV2", (a.t().contiguous(), b), lambda x, y: x.t() @ y, {"transpose_x1": True}
        ),
        TypeCase("BatchMatMul", (p, q), torch.matmul),
        TypeCase(
            "BatchMatMulV2",
            (p, q.mT.contiguous()),
            lambda x, y: x @ y.mT,
            {"adj_x2": True},
        ),
        TypeCase("Dot", (c, c), torch.dot),
    ]


CONV = {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1]}
CONV3 = {
    "strides": [1, 1, 1, 1, 1],
    "pads": [1, 1, 1, 1, 1, 1],
    "dilations": [1, 1, 1, 1, 1],
    "data_format": "NCDHW",
}


def _images() -> list[TypeCase]:
    w, w3 = _t(6, 4, 3, 3), _t(6, 4, 3, 3, 3)
    y = F.conv2d(IMAGE, w, stride=2, padding=1)
    y3 = F.conv3d(VOLUME, w3, padding=1)
    grad = torch.nn.grad
    pool = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0]}
    max_pool = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "pads": [1, 0, 0, 1]}
    grid = _p(2, 3, 4, 2) * 2 - 1
    centers = {"half_pixel_centers": True}

    def pooled_back(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return torch.func.vjp(lambda v: F.avg_pool2d(v, 2), x)[1](g)[0]

    return [
        TypeCase("Conv2D", (IMAGE, w, _t(6)), lambda *a: F.conv2d(*a, stride=2, padding=1), CONV),
        TypeCase("Conv3D", (VOLUME, w3), lambda *a: F.conv3d(*a, padding=1), CONV3),
        TypeCase(
            "Conv2DBackpropInput",
            (H(2, 4, 8, 9), w, y),
            lambda f, g: grad.conv2d_input((2, 4, 8, 9), f, g, 2, 1),
            CONV,
        ),
        TypeCase(
            "Conv2DBackpropFilter",
            (IMAGE, H(6, 4, 3, 3), y),
            lambda x, g: grad.conv2d_weight(x, (6, 4, 3, 3), g, 2, 1),
            CONV,
        ),
        TypeCase(
            "Conv2DTranspose",
            (H(2, 4, 7, 9), y, w),
            lambda x, f: F.conv_transpose2d(x, f, stride=2, padding=1),
            CONV,
        ),
        TypeCase(
            "Conv3DBackpropInput",
            (H(2, 4, 5, 6, 7), w3, y3),
            lambda f, g: grad.conv3d_input((2, 4, 5, 6, 7), f, g, 1, 1),
            CONV3,
        ),
        TypeCase(
            "Conv3DBackpropFilter",
            (VOLUME, H(6, 4, 3, 3, 3), y3),
            lambda x, g: grad.conv3d_weight(x, (6, 4, 3, 3, 3), g, 1, 1),
            CONV3,
        ),
        TypeCase(
            "Conv3DTranspose",
            (H(2, 4, 5, 6, 7), y3, w3),
            lambda x, f: F.conv_transpose3d(x, f, padding=1),
            CONV3,
        ),
        TypeCase("AvgPoolV2", (IMAGE,), lambda x: F.avg_pool2d(x, 2), pool),
        TypeCase(
            "AvgPoolV2Grad",
            (H(2, 4, 8, 9), _t(2, 4, 4, 4)),
            lambda g: pooled_back(IMAGE, g),
            pool,
        ),
        TypeCase(
            "AdaptiveAvgPool2d",
            (IMAGE,),
            lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
            {"output_size": [3, 2]},
        ),
        TypeCase(
            "AdaptiveAvgPool2dGrad",
            (_t(2, 4, 3, 2),),
            lambda g: torch.func.vjp(lambda v: F.adaptive_avg_pool2d(v, (3, 2)), IMAGE)[1](g)[0],
            {"orig_input_shape": [2, 4, 8, 9]},
        ),
        TypeCase(
            "MaxPoolWithArgmaxV1",
            (IMAGE,),
            lambda x: (F.max_pool2d(x, 2), torch.zeros(2, 4, 4, 2, dtype=torch.uint16)),
            max_pool | {"pads": [1, 0, 0, 1]},
            computes=False,
        ),
        TypeCase(
            "MaxPoolGradWithArgmaxV1",
            (IMAGE, _t(2, 4, 4, 4), torch.zeros(2, 4, 4, 2, dtype=torch.uint16)),
            lambda x, *_: x,
            max_pool,
            computes=False,
        ),
        TypeCase(
            "GridSampler2D",
            (IMAGE, grid),
            lambda x, g: F.grid_sample(x, g, align_corners=False),
        ),
        TypeCase(
            "GridSampler2DGrad",
            (_t(2, 4, 3, 4), IMAGE, grid),
            lambda g, x, p: torch.func.vjp(
                lambda a, b: F.grid_sample(a, b, align_corners=False), x, p
            )[1](g),
        ),
        TypeCase(
            "ResizeBilinearV2",
            (IMAGE, H(4, 5)),
            lambda x: F.interpolate(x, (4, 5), mode="bilinear"),
            centers,
        ),
        TypeCase(
            "ResizeBilinearV2Grad",
            (_t(2, 4, 4, 5), IMAGE),
            lambda g, x: torch.func.vjp(lambda v: F.interpolate(v, (4, 5), mode="bilinear"), x)[1](
                g
            )[0],
            centers,
        ),
        TypeCase("ResizeNearestNeighborV2", (IMAGE, H(4, 5)), lambda x: F.interpolate(x, (4, 5))),
        TypeCase(
            "ResizeNearestNeighborV2Grad",
            (_t(2, 4, 4, 5), H(8, 9)),
            lambda g: torch.func.vjp(lambda v: F.interpolate(v, (4, 5)), IMAGE)[1](g)[0],
        ),
    ]


def _norms() -> list[TypeCase]:
    w, b = _t(5, seed=2), _t(5, seed=3)
    c, mean, var = _t(4, seed=2), _t(4, seed=4), _p(4)
    rows = X.mean(-1, keepdim=True), X.var(-1, unbiased=False, keepdim=True)
    g = _t(2, 3, 5, seed=6)

    def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (5,), w, b)

    def statistics(image: torch.Tensor) -> tuple[TypeCase, ...]:
        dims = tuple(i for i in range(image.dim()) if i != 1)
        three = "3D" if image.dim() == 5 else ""
        like = image.new_empty(image.shape[1])
        four = (like,) * 4
        return (
            TypeCase(
                f"BN{three}TrainingReduce",
                (image,),
                lambda x: (x.sum(dims), x.square().sum(dims)),
            ),
            TypeCase(
                f"BN{three}TrainingReduceGrad",
                (image, image, c, c, c, mean, var),
                lambda x, *_: x,
                computes=False,
            ),
            TypeCase(
                f"BN{three}TrainingUpdate",
                (image, c, c, c, c, mean, var),
                lambda x, *_: (x, *four),
                computes=False,
            ),
            TypeCase(
                f"BN{three}TrainingUpdateGrad",
                (image, image, mean, var),
                lambda *_: four[:2],
                computes=False,
            ),
        )

    return [
        *statistics(IMAGE),
        *statistics(VOLUME),
        TypeCase(
            "BNInfer",
            (IMAGE, c, c, mean, var),
            lambda x, s, o, m, v: F.batch_norm(x, m, v, s, o),
        ),
        TypeCase(
            "BNInferGrad",
            (IMAGE, c, var),
            lambda g, s, v: g * (s / (v + 1e-5).sqrt())[:, None, None],
        ),
        TypeCase(
            "LayerNorm",
            (X, w, b),
            lambda x, w, b: (
                layer(x, w, b),
                x.mean(-1, keepdim=True),
                x.var(-1, unbiased=False, keepdim=True),
            ),
        ),
        TypeCase(
            "LayerNormV3", (X, w, b), lambda *a: torch.native_layer_norm(a[0], (5,), *a[1:], 1e-5)
        ),
        TypeCase(
            "LayerNormGrad",
            (g, X, rows[1], rows[0], w),
            lambda g, x, v, m, w: torch.func.vjp(layer, x, w, b)[1](g),
        ),
        TypeCase("SoftmaxV2", (X,), lambda x: x.softmax(1), {"axes": [1]}),
        TypeCase("LogSoftmaxV2", (X,), lambda x: x.log_softmax(1), {"axes": [1]}),
        TypeCase(
            "SoftmaxGrad",
            (X.softmax(1), g),
            lambda y, g: y * (g - (y * g).sum(1, keepdim=True)),
            {"axes": [1]},
        ),
        TypeCase(
            "LogSoftmaxGrad",
            (g, X.log_softmax(1)),
            lambda g, y: g - y.exp() * g.sum(1, keepdim=True),
            {"axis": [1]},
        ),
    ]


def _losses() -> list[TypeCase]:
    x, t = _p(3, 4), _p(3, 4, seed=1)
    one = _t(1, seed=7)[0]
    classes = _i(4, 3, dtype=torch.int32)
    logs = _t(3, 4).log_softmax(1)
    signs = torch.where(_t(3, 4, seed=8) > 0, 1.0, -1.0)

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


def _random() -> list[TypeCase]:
    key, alg = (H(5), H(0)), N(1, torch.int32)
    shape = H(3, 7)
    return [
        TypeCase("StatelessRandomNormalV2", (shape, *key, alg), lambda: _t(3, 7), computes=False),
        TypeCase("StatelessRandomUniformV2", (shape, *key, alg), lambda: _t(3, 7), computes=False),
        TypeCase("StatelessBernoulli", (shape, N(0.5), *key), lambda: _t(3, 7), computes=False),
        TypeCase(
            "StatelessDropOutGenMask",
            (shape, N(0.5), H(5), N(0, torch.int32), H(0)),
            lambda: torch.zeros(16, dtype=torch.uint8),
            computes=False,
        ),
        TypeCase(
            "DropOutDoMask",
            (X, torch.full((16,), 255, dtype=torch.uint8), N(0.5)),
            lambda x, mask: x * 2,
        ),
        TypeCase(
            "MultinomialWithReplacement",
            (_p(3, 4), *key),
            lambda x: torch.zeros(3, 6, dtype=torch.int64),
            {"numsamples": 6, "replacement": True},
            computes=False,
        ),
    ]


def _recurrent() -> list[TypeCase]:
    steps, batch, inputs, hidden = 3, 2, 5, 4
    x, state, start = _t(steps, batch, inputs), _t(steps, batch, hidden), _t(1, batch, hidden)
    last = _t(batch, hidden)
    none = torch.zeros(())

    def sizes(*results: torch.Tensor) -> Callable[..., Sequence[torch.Tensor]]:
        return lambda *_: results

    w, w_x, w_h = (_t(n, 4 * hidden) for n in (inputs + hidden, inputs, hidden))
    v_x, v_h = _t(inputs, 3 * hidden), _t(hidden, 3 * hidden)
    lstm, gru = _t(4 * hidden), _t(3 * hidden)
    eight = (state,) * 8
    tail = (state, start, start, state, state, state, last, last, *(state,) * 5)
    return [
        TypeCase("DynamicRNN", (x, w, lstm), sizes(*eight), computes=False),
        TypeCase("DynamicRNNV2", (x, w_x, w_h, lstm), sizes(*eight), computes=False),
        TypeCase(
            "DynamicRNNGrad",
            (x, w, lstm, *tail, none),
            sizes(w, lstm, x, start, start),
            computes=False,
        ),
        TypeCase(
            "DynamicRNNV2Grad",
            (x, w_x, w_h, *tail, none),
            sizes(w_x, w_h, lstm, x, start, start),
            computes=False,
        ),
        TypeCase("DynamicGRUV2", (x, v_x, v_h, gru, gru), sizes(*(state,) * 6), computes=False),
        TypeCase(
            "DynamicGRUV2Grad",
            (x, v_x, v_h, state, last, state, state, last, state, state, state, state, none, none),
            sizes(v_x, v_h, gru, gru, x, last),
            computes=False,
        ),
    ]


CASES: list[TypeCase] = [
    *_unary(),
    *_binary(),
    *_gradients(),
    *_reductions(),
    *_shapes(),
    *_indexing(),
    *_products(),
    *_images(),
    *_norms(),
    *_losses(),
    *_random(),
    *_recurrent(),
]
