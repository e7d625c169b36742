"""Models that passes of the graph engine change, and models that they leave alone."""

from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
RANDOM = np.random.default_rng(0)


def model_of(nodes, inputs, outputs, constants, opset=17) -> ModelProto:
    """A model of float32 inputs and outputs."""
    info = [
        [helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in side.items()]
        for side in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "g", *info, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def normal(*dims: int) -> np.ndarray:
    return RANDOM.standard_normal(dims, dtype=np.float32)


def node(type_, inputs, output, **attributes):
    return helper.make_node(type_, inputs.split(), [output], output, **attributes)


@dataclass(frozen=True)
class Case:
    """A model, the pass that changes it, and how often which operators are there before and after."""

    pass_: str
    model: ModelProto
    before: dict[str, int]
    after: dict[str, int]
    length: int = 1  # of the sums that a result is made of
    epsilon: float = float(np.finfo(np.float32).eps)  # of the type that results are rounded to


X = {"x": [2, 3, 8, 8]}
IMAGE = {"w": normal(4, 3, 3, 3), "b": normal(4)}
NORM = {
    "scale": normal(4),
    "shift": normal(4),
    "mean": normal(4),
    "var": np.abs(normal(4)) + 0.5,
}
Y = {"y": [2, 4, 6, 6]}


def norm_of(operand: str) -> list:
    """A layer normalization of ``operand`` as exporters of opset 11 write it."""
    return [
        node("ReduceMean", [operand][0], "m", axes=[-1]),
        node("Sub", f"{operand} m", "c"),
        node("Pow", "c two", "sq"),
        node("ReduceMean", "sq", "v", axes=[-1]),
        node("Add", "v eps", "ve"),
        node("Sqrt", "ve", "sd"),
        node("Div", "c sd", "n"),
        node("Mul", "n gamma", "ng"),
        node("Add", "ng beta", "y"),
    ]


def gelu_of(order: int) -> list:
    """GELU by erf, the half in one of three positions."""
    erf = [node("Div", "x root", "q"), node("Erf", "q", "e"), node("Add", "e one", "f")]
    return (
        erf
        + [
            [node("Mul", "x f", "p"), node("Mul", "p half", "y")],
            [node("Mul", "x half", "h"), node("Mul", "h f", "y")],
            [node("Mul", "f half", "h"), node("Mul", "x h", "y")],
        ][order]
    )


def rms_norm_of(divides: bool) -> list:
    """An RMS norm of ``x``: divided by the root, or multiplied by its reciprocal."""
    head = [
        node("Pow", "x two", "sq"),
        node("ReduceMean", "sq", "v", axes=[-1]),
        node("Add", "v eps", "ve"),
        node("Sqrt", "ve", "sd"),
    ]
    if divides:
        return [*head, node("Div", "x sd", "n"), node("Mul", "gamma n", "y")]
    return [
        *head,
        node("Div", "unit sd", "r"),
        node("Mul", "x r", "n"),
        node("Mul", "gamma n", "y"),
    ]


def half_rms_norm() -> ModelProto:
    """An RMS norm of float16 that is computed in float32, as torch.onnx writes Llama's."""
    nodes = [
        node("Cast", "x", "h", to=TensorProto.FLOAT16),
        node("Cast", "h", "wide", to=FLOAT),
        node("Mul", "wide wide", "sq"),
        node("ReduceMean", "sq", "v", axes=[-1]),
        node("Add", "v eps", "ve"),
        node("Sqrt", "ve", "sd"),
        node("Reciprocal", "sd", "r"),
        node("Mul", "wide r", "n"),
        node("Cast", "n", "back", to=TensorProto.FLOAT16),
        node("Mul", "gamma back", "s"),
        node("Cast", "s", "y", to=FLOAT),
    ]
    constants = {"eps": np.float32(1e-5), "gamma": LAST["gamma"].astype(np.float16)}
    return model_of(nodes, {"x": [4, 6, 32]}, {"y": [4, 6, 32]}, constants, opset=13)


def rotary_of(cos: list[int], sign: str = "Neg") -> ModelProto:
    """x cos + rotated(x) sin as torch.onnx writes it; with another ``sign`` it is no rotation."""
    nodes = [
        node("Slice", "x zero four axis", "a"),
        node("Slice", "x four eight axis", "b"),
        node(sign, "b", "nb"),
        node("Concat", "nb a", "t", axis=-1),
        node("Mul", "x cos", "xc"),
        node("Mul", "t sin", "ts"),
        node("Add", "xc ts", "y"),
    ]
    integers = {"zero": [0], "four": [4], "eight": [8], "axis": [-1]}
    constants = {name: np.array(value) for name, value in integers.items()}
    inputs = {"x": [2, 3, 5, 8], "cos": cos, "sin": cos}
    return model_of(nodes, inputs, {"y": [2, 3, 5, 8]}, constants)


def swiglu_of(order: str) -> ModelProto:
    """swish of one half times the other, ``order`` names them."""
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b"], "split", axis=1),
        node("Sigmoid", order[0], "s"),
        node("Mul", f"{order[0]} s", "w"),
        node("Mul", f"w {order[1]}", "y"),
    ]
    return model_of(nodes, {"x": [3, 8, 5]}, {"y": [3, 4, 5]}, {}, opset=13)


def scaled_attention() -> ModelProto:
    """Attention as torch.onnx writes it: queries and keys are scaled by a root each."""
    nodes = [
        node("Mul", "q root", "qs"),
        node("Transpose", "k", "t", perm=[0, 1, 3, 2]),
        node("Mul", "t root", "ks"),
        node("MatMul", "qs ks", "p"),
        node("Softmax", "p", "w", axis=-1),
        node("MatMul", "w v", "y"),
    ]
    inputs = {"q": [2, 3, 5, 8], "k": [2, 3, 7, 8], "v": [2, 3, 7, 4]}
    return model_of(nodes, inputs, {"y": [2, 3, 5, 4]}, {"root": np.float32(0.6)})


def attention_of(bias: np.ndarray, order: list[int], keys: list[int]) -> ModelProto:
    """softmax(q k' / 3 + bias) v, with k' by a transpose of the given order."""
    nodes = [
        node("Transpose", "k", "t", perm=order),
        node("MatMul", "q t", "p"),
        node("Div", "p three", "d"),
        node("Add", "d bias", "s"),
        node("Softmax", "s", "w", axis=-1),
        node("MatMul", "w v", "y"),
    ]
    inputs = {"q": [2, 3, 5, 8], "k": keys, "v": [2, 3, 7, 4]}
    constants = {"three": np.float32(3), "bias": bias}
    return model_of(nodes, inputs, {"y": [2, 3, 5, 4]}, constants)


GELU = {"root": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5)}
LAST = {
    "two": np.float32(2),
    "eps": np.float32(1e-5),
    "gamma": normal(32),
    "beta": normal(32),
}

CASES = (
    {
        "constants": Case(
            "constants",
            model_of(
                [node("Mul", "w two", "v"), node("Add", "v w", "u"), node("Add", "x u", "y")],
                {"x": [3, 4]},
                {"y": [3, 4]},
                {"w": normal(3, 4), "two": np.float32(2)},
            ),
            {"Mul": 1, "Add": 2},
            {"Mul": 0, "Add": 1},
        ),
        "equal nodes": Case(
            "common",
            model_of(
                [
                    node("Relu", "x", "a"),
                    node("Relu", "x", "b"),
                    node("Transpose", "a", "at", perm=[1, 0]),
                    node("Transpose", "b", "bt", perm=[1, 0]),
                    node("Add", "at bt", "y"),
                ],
                {"x": [3, 4]},
                {"y": [4, 3]},
                {},
            ),
            {"Relu": 2, "Transpose": 2},
            {"Relu": 1, "Transpose": 1},
        ),
        "batch norm": Case(
            "convolutions",
            model_of(
                [
                    node("Conv", "x w b", "c"),
                    node("BatchNormalization", "c scale shift mean var", "n"),
                    node("Relu", "n", "y"),
                ],
                X,
                Y,
                IMAGE | NORM,
            ),
            {"Conv2D": 1, "BNInfer": 1, "Relu": 1},
            {"Conv2D": 1, "BNInfer": 0, "Relu": 1},
            length=27,
        ),
        "batch norm of one dimension": Case(
            "convolutions",
            model_of(
                [
                    node("Conv", "x w", "c"),
                    node("BatchNormalization", "c scale shift mean var", "n"),
                    node("Relu", "n", "y"),
                ],
                {"x": [2, 3, 8]},
                {"y": [2, 4, 6]},
                {"w": normal(4, 3, 3)} | NORM,
            ),
            {"Conv2D": 1, "BNInfer": 1},
            {"Conv2D": 1, "BNInfer": 0},
            length=9,
        ),
        "factor and sum per channel": Case(
            "convolutions",
            model_of(
                [node("Conv", "x w", "c"), node("Mul", "c f", "m"), node("Add", "s m", "y")],
                X,
                Y,
                {"w": IMAGE["w"], "f": normal(4, 1, 1), "s": normal(1, 4, 1, 1)},
            ),
            {"Conv2D": 1, "Mul": 1, "Add": 1},
            {"Conv2D": 1, "Mul": 0, "Add": 0},
            length=27,
        ),
        "a convolution that is read twice": Case(
            "convolutions",
            model_of(
                [
                    node("Conv", "x w b", "c"),
                    node("BatchNormalization", "c scale shift mean var", "n"),
                    node("Add", "n c", "y"),
                ],
                X,
                Y,
                IMAGE | NORM,
            ),
            {"Conv2D": 1, "BNInfer": 1},
            {"Conv2D": 1, "BNInfer": 1},
            length=27,
        ),
        "padding": Case(
            "convolutions",
            model_of(
                [node("Pad", "x pads", "p"), node("Conv", "p w b", "y", pads=[1, 0, 1, 0])],
                X,
                {"y": [2, 4, 10, 8]},
                IMAGE | {"pads": np.array([0, 0, 1, 1, 0, 0, 1, 1])},
            ),
            {"PadV3": 1, "Conv2D": 1},
            {"PadV3": 0, "Conv2D": 1},
            length=27,
        ),
        "padding of one side": Case(
            "convolutions",
            model_of(
                [node("Pad", "x pads", "p"), node("Conv", "p w b", "y")],
                X,
                {"y": [2, 4, 7, 7]},
                IMAGE | {"pads": np.array([0, 0, 1, 1, 0, 0, 0, 0])},
            ),
            {"PadV3": 1},
            {"PadV3": 1},
            length=27,
        ),
        "transposes": Case(
            "transposes",
            model_of(
                [
                    node("Transpose", "x", "t", perm=[0, 2, 3, 1]),
                    node("Add", "t b", "a"),
                    node("Relu", "a", "r"),
                    node("Transpose", "r", "u", perm=[0, 3, 1, 2]),
                    node("Abs", "u", "y"),
                ],
                X,
                {"y": X["x"]},
                {"b": normal(3)},
            ),
            {"Transpose": 2},
            {"Transpose": 0},
        ),
        "transposes of two operands": Case(
            "transposes",
            model_of(
                [
                    node("Abs", "x", "z"),
                    node("Transpose", "x", "s", perm=[0, 2, 3, 1]),
                    node("Transpose", "z", "t", perm=[0, 2, 3, 1]),
                    node("Sub", "s t", "y"),
                ],
                X,
                {"y": [2, 8, 8, 3]},
                {},
            ),
            {"Transpose": 2},
            {"Transpose": 1},
        ),
        "a transpose that renames": Case(
            "transposes",
            model_of(
                [node("Transpose", "x", "t", perm=[1, 0, 2]), node("Relu", "t", "y")],
                {"x": [1, 5, 3]},
                {"y": [5, 1, 3]},
                {},
            ),
            {"Transpose": 1},
            {"Transpose": 0},
        ),
        "a transposed factor": Case(
            "products",
            model_of(
                [node("Transpose", "k", "t", perm=[0, 2, 1]), node("MatMul", "q t", "y")],
                {"q": [2, 5, 8], "k": [2, 7, 8]},
                {"y": [2, 5, 7]},
                {},
            ),
            {"Transpose": 1, "BatchMatMulV2": 1},
            {"Transpose": 0, "BatchMatMulV2": 1},
            length=8,
        ),
        "a bias": Case(
            "products",
            model_of(
                [node("MatMul", "x w", "p"), node("Add", "b p", "s"), node("Relu", "s", "y")],
                {"x": [2, 5, 8]},
                {"y": [2, 5, 7]},
                {"w": normal(8, 7), "b": normal(7)},
            ),
            {"MatMulV2": 1, "Add": 1},
            {"MatMulV2": 1, "Add": 0},
            length=8,
        ),
        "layer norm": Case(
            "layer-norm",
            model_of(norm_of("x"), {"x": [4, 6, 32]}, {"y": [4, 6, 32]}, LAST, opset=11),
            {"ReduceMean": 2, "LayerNormV3": 0},
            {"ReduceMean": 0, "LayerNormV3": 1, "Sub": 0, "Add": 0},
            length=32,
        ),
        "rms norm in float32 of float16": Case(
            "rms-norm",
            half_rms_norm(),
            {"ReduceMean": 1, "Cast": 4},
            {"ReduceMean": 0, "softnpuRmsNorm": 1, "Cast": 2},
            length=32,
            epsilon=float(np.finfo(np.float16).eps),
        ),
        "an rms norm that is read within": Case(
            "rms-norm",
            model_of(
                [*rms_norm_of(True)[:-1], node("Mul", "gamma n", "z"), node("Add", "z n", "y")],
                {"x": [4, 6, 32]},
                {"y": [4, 6, 32]},
                LAST,
                opset=11,
            ),
            {"ReduceMean": 1},
            {"ReduceMean": 1, "softnpuRmsNorm": 0},
            length=32,
        ),
        "rotary embedding by position": Case(
            "rotary",
            rotary_of([1, 1, 5, 8]),
            {"Slice": 2, "ConcatD": 1, "Mul": 2},
            {"softnpuRotary": 1, "Slice": 0, "ConcatD": 0, "Mul": 0, "Neg": 0},
            length=2,
        ),
        "rotary embedding by sequence": Case(
            "rotary",
            rotary_of([2, 1, 5, 8]),
            {"Slice": 2},
            {"softnpuRotary": 1, "Slice": 0},
            length=2,
        ),
        "no rotary embedding": Case(
            "rotary",
            rotary_of([5, 8], "Abs"),
            {"Slice": 2},
            {"softnpuRotary": 0, "Slice": 2},
            length=2,
        ),
        "swiglu": Case(
            "gates",
            swiglu_of("ab"),
            {"Sigmoid": 1, "Slice": 2, "Mul": 2},
            {"softnpuSwiGlu": 1, "Swish": 0, "Slice": 0, "Mul": 0},
            length=4,
        ),
        "swiglu of the second half": Case(
            "gates",
            swiglu_of("ba"),
            {"Slice": 2},
            {"softnpuSwiGlu": 0, "Swish": 1, "Slice": 2},
            length=4,
        ),
        "attention": Case(
            "attention",
            attention_of(normal(1, 5, 7), [0, 1, 3, 2], [2, 3, 7, 8]),
            {"SoftmaxV2": 1, "BatchMatMulV2": 2},
            {"SoftmaxV2": 0, "BatchMatMulV2": 0, "softnpuAttention": 1, "Transpose": 0},
            length=8 * 7,
        ),
        "attention with scaled factors": Case(
            "attention",
            scaled_attention(),
            {"SoftmaxV2": 1, "Mul": 2},
            {"SoftmaxV2": 0, "softnpuAttention": 1, "Mul": 0, "Transpose": 0},
            length=8 * 7,
        ),
        "attention with keys by position": Case(
            "attention",
            attention_of(normal(5, 7), [0, 2, 3, 1], [2, 7, 3, 8]),
            {"SoftmaxV2": 1, "Transpose": 1},
            {"SoftmaxV2": 0, "softnpuAttention": 1, "Transpose": 1},
            length=8 * 7,
        ),
        "attention with infinite bias": Case(
            "attention",
            attention_of(
                np.triu(np.full((5, 7), -np.inf, np.float32), 1), [0, 1, 3, 2], [2, 3, 7, 8]
            ),
            {"SoftmaxV2": 1},
            {"SoftmaxV2": 1, "softnpuAttention": 0},
            length=8 * 7,
        ),
        "swish": Case(
            "activations",
            model_of(
                [node("Sigmoid", "x", "s"), node("Mul", "x s", "y")], {"x": [999]}, {"y": [999]}, {}
            ),
            {"Sigmoid": 1},
            {"Sigmoid": 0, "Swish": 1, "Mul": 0},
            length=4,
        ),
        "hard swish": Case(
            "activations",
            model_of(
                [node("HardSigmoid", "x", "s", alpha=1 / 6), node("Mul", "s x", "y")],
                {"x": [999]},
                {"y": [999]},
                {},
            ),
            {"Minimum": 1},
            {"Minimum": 0, "HardSwish": 1, "Mul": 0},
            length=4,
        ),
    }
    | {
        f"gelu {order}": Case(
            "activations",
            model_of(gelu_of(order), {"x": [999]}, {"y": [999]}, GELU),
            {"Erf": 1},
            {"Erf": 0, "Gelu": 1, "Mul": 0},
            length=4,
        )
        for order in range(3)
    }
    | {
        "clip": Case(
            "clips",
            model_of(
                [node("Clip", "x low high", "y")],
                {"x": [2, 999]},
                {"y": [2, 999]},
                {"low": np.float32(-0.5), "high": np.float32(1)},
            ),
            {"Maximum": 1, "Minimum": 1},
            {"Maximum": 0, "Minimum": 0, "ClipByValue": 1},
        ),
        "clip from above first": Case(
            "clips",
            model_of(
                [node("Min", "high x", "m"), node("Max", "low m", "y")],
                {"x": [2, 999]},
                {"y": [2, 999]},
                {"low": np.float32(-0.5), "high": np.float32(1)},
            ),
            {"Maximum": 1, "Minimum": 1},
            {"Maximum": 0, "Minimum": 0, "ClipByValue": 1},
        ),
        "bounds in no order": Case(
            "clips",
            model_of(
                [node("Clip", "x low high", "y")],
                {"x": [2, 999]},
                {"y": [2, 999]},
                {"low": np.float32(1), "high": np.float32(-0.5)},
            ),
            {"Maximum": 1, "Minimum": 1},
            {"Maximum": 1, "Minimum": 1, "ClipByValue": 0},
        ),
    }
    | {
        f"rms norm {variant}": Case(
            "rms-norm",
            model_of(
                rms_norm_of(variant == "divided"),
                {"x": [4, 6, 32]},
                {"y": [4, 6, 32]},
                LAST | {"unit": np.float32(1)},
                opset=11,
            ),
            {"ReduceMean": 1, "softnpuRmsNorm": 0},
            {"ReduceMean": 0, "softnpuRmsNorm": 1, "Mul": 0, "Add": 0},
            length=32,
        )
        for variant in ("divided", "multiplied")
    }
)
