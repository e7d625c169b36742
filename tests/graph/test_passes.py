"""Passes of the graph engine: the graph before and after each as text, and the results against those without passes."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graph.acl_model import LIB, Dataset, Model, acl, call

ATC = LIB.parent / "cann" / "bin" / "atc"
FLOAT = TensorProto.FLOAT
RANDOM = np.random.default_rng(0)


@dataclass(frozen=True)
class Compiled:
    """A compiled model, and the text of its graph after each pass; "lowered": before the first."""

    om: Path
    texts: dict[str, str]


def compiled(model: ModelProto, folder: Path, *options: str) -> Compiled:
    """Runs atc."""
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    om = folder / f"m{len(list(folder.iterdir()))}.om"
    arguments = [f"--model={path}", f"--output={om}", "--framework=5", "--soc_version=any"]
    done = subprocess.run(
        [ATC, *arguments, *options, "--dump=-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^# ([\w-]+)\n", done.stdout, flags=re.MULTILINE)
    texts = {
        name: "".join(
            line
            for line in text.splitlines(keepends=True)
            if line.startswith(("graph", "%", "ret"))
        )
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return Compiled(om, texts)


def model_of(nodes, inputs, outputs, constants, opset=17) -> ModelProto:
    """A model of float32 inputs and outputs."""
    info = [
        [helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in side.items()]
        for side in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "g", *info, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def run(om: Path, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Loads and runs a model once."""
    model = Model(om)
    try:
        return model.run(inputs)
    finally:
        model.close()


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
        f"rms norm {form}": Case(
            "rms-norm",
            model_of(
                rms_norm_of(form == "divided"),
                {"x": [4, 6, 32]},
                {"y": [4, 6, 32]},
                LAST | {"unit": np.float32(1)},
                opset=11,
            ),
            {"ReduceMean": 1, "softnpuRmsNorm": 0},
            {"ReduceMean": 0, "softnpuRmsNorm": 1, "Mul": 0, "Add": 0},
            length=32,
        )
        for form in ("divided", "multiplied")
    }
)


def counted(text: str, types: Sequence[str]) -> dict[str, int]:
    """How often each operator is in a graph's text."""
    return {type_: len(re.findall(rf"= {type_}\(", text)) for type_ in types}


@pytest.mark.parametrize("name", CASES)
def test_pass(name, tmp_path):
    """The pass does what it says, alone as well; results differ by rounding from those without passes."""
    case = CASES[name]
    with_passes = compiled(case.model, tmp_path)
    without = compiled(case.model, tmp_path, "--passes_off=all")
    assert list(without.texts) == ["lowered"]
    assert with_passes.texts["lowered"] == without.texts["lowered"]
    assert counted(without.texts["lowered"], list(case.before)) == case.before
    assert counted(with_passes.texts[case.pass_], list(case.after)) == case.after
    off = compiled(case.model, tmp_path, f"--passes_off={case.pass_}")
    assert case.pass_ not in off.texts

    inputs = [
        normal(*(d.dim_value for d in i.type.tensor_type.shape.dim)) for i in case.model.graph.input
    ]
    wanted = run(without.om, inputs)[0]
    # A sum of `length` terms, computed twice, each with operands that are rounded once more.
    tolerance = 4 * (case.length + 2) * case.epsilon * max(1, np.abs(wanted).max())
    for one in (with_passes, off):
        np.testing.assert_allclose(run(one.om, inputs)[0], wanted, rtol=0, atol=tolerance)


def test_texts(tmp_path):
    """The whole text before and after: values are numbered, constants of few elements shown."""
    model = model_of(
        [node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Add", "c s", "y")],
        {"x": [1, 1, 2, 2]},
        {"y": [1, 1, 2, 2]},
        {"w": np.ones((1, 1, 3, 3), np.float32), "s": np.float32(2)},
    )
    texts = compiled(model, tmp_path).texts
    attributes = (
        "{dilations: [1,1,1,1], groups: 1, pads: [1,1,1,1], strides: [1,1,1,1]} : float32[1,1,2,2]"
    )
    head = "graph g(%0 x: float32[1,1,2,2])\n%1 = Conv2D(%0, float32[1,1,1,1,1,1,1,1,1]"
    assert texts["lowered"] == (
        f"{head}) {attributes}\n%2 = Add(%1, float32[2]) : float32[1,1,2,2]\nreturn %2 y\n"
    )
    assert texts["convolutions"] == f"{head}, float32[2]) {attributes}\nreturn %1 y\n"


def test_unknown_pass(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(CASES["swish"].model.SerializeToString())
    arguments = [f"--model={path}", "--output=m", "--framework=5", "--soc_version=any"]
    done = subprocess.run(
        [ATC, *arguments, "--passes_off=magic"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "there is no pass magic; there are all, constants, common" in done.stderr


def test_nan_passes_through_fused_operators(tmp_path):
    """ReLU behind a convolution keeps NaN, as it does unfused."""
    model = model_of(
        [
            node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
            node("Relu", "c", "r"),
            node("Abs", "r", "y"),
        ],
        {"x": [1, 3, 64, 64]},
        {"y": [1, 4, 64, 64]},
        IMAGE,
    )
    x = normal(1, 3, 64, 64)
    x[0, 0, 5, 5] = np.nan
    y = run(compiled(model, tmp_path).om, [x])[0]
    assert np.isnan(y[0, :, 4:7, 4:7]).all()
    assert np.isnan(y).sum() == 9 * 4


def test_precision_modes_allow_hf32(tmp_path):
    """The permission is that of each convolution and product; without a mode there is none."""
    case = CASES["a bias"]
    allowed = compiled(case.model, tmp_path, "--precision_mode=allow_mix_precision")
    assert "allow_hf32: true" in allowed.texts["lowered"]
    kept = compiled(case.model, tmp_path, "--precision_mode=force_fp32")
    assert "allow_hf32" not in kept.texts["lowered"]
    x = normal(2, 5, 8)
    # HF32 has 11 bits: a product of two rounded factors, summed over 8.
    np.testing.assert_allclose(
        run(allowed.om, [x])[0], run(kept.om, [x])[0], rtol=0, atol=8 * 2**-10 * 9
    )


RUN_ONCE = """
import sys
import numpy as np
from graph.test_passes import run
np.save(sys.argv[3], run(sys.argv[1], [np.load(sys.argv[2])])[0])
"""


def test_fused_operators_are_bitwise_equal_to_unfused(tmp_path):
    """Operators behind a convolution run on its tiles; SOFTNPU_FUSE=0 runs each as a task of its own."""
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("Conv", "r v", "d", pads=[1, 1, 1, 1]),
        node("Sigmoid", "d", "s"),
        node("Mul", "d s", "m"),
        node("Add", "m r", "a"),
        node("Tanh", "a", "t"),
        node("GlobalAveragePool", "t", "y"),
    ]
    sizes = {"x": [2, 3, 64, 64]}
    model = model_of(nodes, sizes, {"y": [2, 4, 1, 1]}, IMAGE | {"v": normal(4, 4, 3, 3)})
    om = compiled(model, tmp_path).om
    x = normal(*sizes["x"])
    np.save(tmp_path / "x.npy", x)
    for fuse in "01":
        subprocess.run(
            [sys.executable, "-c", RUN_ONCE, om, tmp_path / "x.npy", tmp_path / f"{fuse}.npy"],
            check=True,
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "SOFTNPU_FUSE": fuse},
        )
    unfused, fused = (np.load(tmp_path / f"{fuse}.npy") for fuse in "01")
    np.testing.assert_array_equal(fused, unfused)


def test_runs_with_other_buffers(tmp_path):
    """Tasks that read inputs or write outputs are planned again for other memory."""
    model = CASES["batch norm"].model
    loaded = Model(compiled(model, tmp_path).om)
    inputs = [normal(2, 3, 8, 8) for _ in range(6)]
    expected = [run(compiled(model, tmp_path, "--passes_off=all").om, [x])[0] for x in inputs]
    given = [Dataset(loaded.sizes("Input")) for _ in range(3)]
    made = [Dataset(loaded.sizes("Output")) for _ in range(2)]
    for i, x in enumerate(inputs):
        source, target = given[i % 3], made[i % 2]
        source.memory[0].write(x)
        call(acl().aclmdlExecute(loaded.id, source.handle, target.handle))
        got = target.memory[0].read(np.dtype(np.float32), [2, 4, 6, 6])
        tolerance = 4 * (27 + 2) * np.finfo(np.float32).eps * np.abs(expected[i]).max()
        np.testing.assert_allclose(got, expected[i], rtol=0, atol=tolerance)
    loaded.close()
