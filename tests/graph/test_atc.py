"""Options of atc that compile nothing, and those of sizes and output types."""

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from graph.acl_model import LIB, Model

ATC = LIB.parent / "cann" / "bin" / "atc"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Has m.onnx: relu(x) and its negative for x [batch, 3]; and bad.onnx, whose operator there is not."""
    location = tmp_path_factory.mktemp("atc")
    x, y, z = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 3]) for name in "xyz"
    )
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], "relu"),
        helper.make_node("Neg", ["y"], ["z"], 'the "negative"'),
    ]
    opset = [helper.make_opsetid("", 17)]
    onnx.save(
        helper.make_model(helper.make_graph(nodes, "g", [x], [y, z]), opset_imports=opset),
        location / "m.onnx",
    )
    bad = helper.make_graph([helper.make_node("ImageDecoder", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(bad, opset_imports=opset), location / "bad.onnx")
    return location


def atc(folder: Path, *options: str, fails: bool = False) -> str:
    """What it prints; on the other stream if it should fail."""
    done = subprocess.run([ATC, *options], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def compiled(folder: Path, name: str, *options: str) -> Path:
    atc(
        folder,
        "--model=m.onnx",
        "--framework=5",
        "--soc_version=any",
        f"--output={name}",
        *options,
    )
    return folder / f"{name}.om"


def test_mode_1_writes_json(folder):
    compiled(folder, "fixed", "--input_shape=x:2,3")
    atc(folder, "--mode=1", "--om=fixed.om", "--json=fixed.json")
    model = json.loads((folder / "fixed.json").read_text())
    assert [node["type"] for node in model["nodes"]] == ["Relu", "Neg"]
    assert model["nodes"][1]["name"] == 'the "negative"'
    assert model["nodes"][1]["inputs"] == ["y"]
    assert model["inputs"] == [{"name": "x", "dtype": "float32", "shape": [2, 3]}]
    atc(folder, "--mode=1", "--om=m.onnx", "--json=m.json")
    model = json.loads((folder / "m.json").read_text())
    assert [one["shape"] for one in model["outputs"]] == [[-1, 3], [-1, 3]]
    assert "--json is missing" in atc(folder, "--mode=1", "--om=m.onnx", fails=True)


def test_mode_3_checks_operators(folder):
    atc(folder, "--mode=3", "--model=m.onnx", "--framework=5")
    report = json.loads((folder / "check_result.json").read_text())
    assert report["result"] == "success"
    assert report["operators"][0] == {"domain": "", "type": "Neg", "nodes": 1}
    message = atc(folder, "--mode=3", "--model=bad.onnx", "--check_report=bad.json", fails=True)
    assert "operators are missing, see bad.json" in message
    report = json.loads((folder / "bad.json").read_text())
    assert report["result"] == "failed"
    assert "ai.onnx.ImageDecoder (version 17, 1 node)" in report["reason"]


def test_mode_6_shows_a_model(folder):
    compiled(folder, "shown", "--input_shape=x:2,3")
    message = atc(folder, "--mode=6", "--om=shown.om")
    assert "model: g, 2 operators" in message
    assert "input x: float32[2, 3]" in message
    compiled(folder, "list", "--input_shape=x:-1,3", "--dynamic_batch_size=1,4")
    message = atc(folder, "--mode=6", "--om=list.om")
    assert "list of sizes: [[1], [4]]" in message
    assert "input x: float32[-1, 3]" in message
    (folder / "no.om").write_bytes(b"nothing")
    assert "this is no compiled model" in atc(folder, "--mode=6", "--om=no.om", fails=True)


def test_other_modes(folder):
    assert "--mode=5: dumps of CANN's graph engine" in atc(folder, "--mode=5", fails=True)
    assert "--mode=7: 0 compiles" in atc(folder, "--mode=7", fails=True)


def test_output_types(folder):
    """All outputs, and single ones by their nodes."""
    x = np.array([[-1, 2, 3], [4, -5, 6]], np.float32)
    model = Model(
        compiled(folder, "types", "--input_shape=x:2,3", "--output_type=FP16;relu:0:INT8")
    )
    y, z = model.run([x])
    model.close()
    assert (y.dtype, z.dtype) == (np.int8, np.float16)
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    np.testing.assert_array_equal(z, -np.maximum(x, 0))
    options = ("--model=m.onnx", "--framework=5", "--output=n", "--input_shape=x:2,3")
    message = atc(folder, *options, "--output_type=FP8", fails=True)
    assert "FP32, FP16, UINT8 or INT8" in message
    message = atc(folder, *options, "--output_type=magic:0:FP16", fails=True)
    assert "--output_type: the model has no node magic" in message


def test_ranges_of_sizes(folder):
    """Sizes in a range are open; one with equal ends is fixed."""
    model = Model(compiled(folder, "range", "--input_shape_range=x:[1~10,3]"))
    assert model.dims("Input", 0) == [-1, 3]
    model.close()
    model = Model(compiled(folder, "point", "--input_shape_range=x:[2~2,3]"))
    assert model.dims("Input", 0) == [2, 3]
    model.close()
    options = ("--model=m.onnx", "--framework=5", "--output=n")
    for range_, sentence in {
        "x:1~10,3": "is not name:[sizes]",
        "x:[10~1,3]": "is no size and no range low~high",
        "q:[1~10,3]": "names q, which is no input; the model's inputs are x:batch,3 (float)",
        "x:[1~10,4]": "gives x sizes that the model does not have; its inputs are x:batch,3 (float)",
    }.items():
        assert sentence in atc(folder, *options, f"--input_shape_range={range_}", fails=True)


@pytest.mark.parametrize("sizes", ["x:2,4", "x:2", "x:-1,3,3", "z:2,3"])
def test_wrong_sizes_name_the_inputs(folder, sizes):
    message = atc(
        folder,
        "--model=m.onnx",
        "--framework=5",
        "--output=n",
        f"--input_shape={sizes}",
        fails=True,
    )
    assert "inputs are x:batch,3 (float)" in message


def image_model(folder: Path, channels: int) -> None:
    """image.onnx: the identity of [2, channels, 4, 6]."""
    sizes = [2, channels, 4, 6]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]),
        folder / "image.onnx",
    )


def preprocessed(folder: Path, settings: str, pixels: np.ndarray) -> np.ndarray:
    """What the model makes of the bytes."""
    (folder / "aipp.cfg").write_text(f"aipp_op {{ aipp_mode: static\n{settings}\n}}\n")
    om = compiled(folder, "image", "--model=image.onnx", "--insert_op_conf=aipp.cfg")
    model = Model(om)
    try:
        assert model.dtype("Input", 0) == np.uint8
        assert model.dims("Input", 0) == list(pixels.shape)
        return model.run([pixels])[0]
    finally:
        model.close()


NORMAL = """
mean_chn_0: 10  # of red
mean_chn_1 : 20
min_chn_2 : 0.5
var_reci_chn_0 : 0.5
var_reci_chn_2 : 0.25
"""
MEAN, FACTOR = np.array([10, 20, 0.5], np.float32), np.array([0.5, 1, 0.25], np.float32)


def random_bytes(*sizes: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, sizes, np.uint8)


def test_aipp_of_rgb(folder):
    """Crops, exchanges red and blue, normalizes and pads."""
    image_model(folder, 3)
    pixels = random_bytes(2, 8, 9, 3)
    settings = f"""input_format: RGB888_U8
        src_image_size_w: 9
        src_image_size_h: 8
        crop: true
        load_start_pos_h: 2
        load_start_pos_w: 1
        crop_size_h: 3
        crop_size_w: 4
        padding: true
        bottom_padding_size: 1
        left_padding_size: 2
        padding_value: -7
        rbuv_swap_switch: true
        {NORMAL}"""
    part = pixels[:, 2:5, 1:5, ::-1].astype(np.float32)
    wanted = np.full((2, 3, 4, 6), -7, np.float32)
    wanted[:, :, :3, 2:] = ((part - MEAN) * FACTOR).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(preprocessed(folder, settings, pixels), wanted, rtol=1e-6)


def test_aipp_of_yuv(folder):
    """NV12 to RGB by a matrix; results are bytes."""
    image_model(folder, 3)
    pixels = random_bytes(2, 6, 6)
    matrix = np.array([[298, 0, 409], [298, -100, -208], [298, 516, 0]])
    bias = np.array([16, 128, 128])
    rows = "\n".join(f"matrix_r{i}c{j}: {matrix[i, j]}" for i in range(3) for j in range(3))
    biases = "\n".join(f"input_bias_{i}: {bias[i]}" for i in range(3))
    y = pixels[:, :4].astype(np.int64)
    uv = pixels[:, 4:].reshape(2, 2, 3, 2).astype(np.int64).repeat(2, 1).repeat(2, 2)
    yuv = np.stack([y, uv[..., 0], uv[..., 1]], -1) - bias
    rgb = np.clip(np.floor(yuv @ matrix.T / 256 + 0.5), 0, 255)
    wanted = ((rgb - MEAN) * FACTOR).transpose(0, 3, 1, 2)
    settings = f"input_format: YUV420SP_U8\ncsc_switch: true\n{rows}\n{biases}\n{NORMAL}"
    np.testing.assert_allclose(preprocessed(folder, settings, pixels), wanted, rtol=1e-6)


def test_aipp_of_gray_and_xrgb(folder):
    image_model(folder, 1)
    pixels = random_bytes(2, 4, 6)
    got = preprocessed(folder, "input_format: YUV400_U8\nvar_reci_chn_0: 2", pixels)
    np.testing.assert_array_equal(got[:, 0], pixels * np.float32(2))
    image_model(folder, 3)
    pixels = random_bytes(2, 4, 6, 4)
    got = preprocessed(folder, "input_format: XRGB8888_U8", pixels)
    np.testing.assert_array_equal(got, pixels[..., 1:].transpose(0, 3, 1, 2))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            "aipp_op { input_format: RGB888_U8\nmagic: 1 }",
            "line 2: there is no magic; there are aipp_mode",
        ),
        ("aipp_op { aipp_mode: dynamic }", "line 1: aipp_mode : dynamic is not implemented"),
        ("aipp_op { input_format: RGB888_U8 resize: true }", "resize : true is not implemented"),
        ("aipp_op { crop: false }", "input_format is missing"),
        ("aipp_op { input_format: RGB888_U8", "a block has no end"),
        ("other { }", '"other" is found, where "aipp_op {" begins'),
        (
            "aipp_op { input_format: RGB888_U8 src_image_size_h: 9 }",
            "makes [2, 3, 9, 6] of an image 9 x 6",
        ),
        (
            "aipp_op { input_format: RGB888_U8 related_input_rank: 3 }",
            "related_input_rank : 3, where the inputs are x:",
        ),
    ],
)
def test_bad_aipp(folder, settings, sentence):
    image_model(folder, 3)
    (folder / "bad.cfg").write_text(settings)
    options = ("--model=image.onnx", "--framework=5", "--output=n", "--insert_op_conf=bad.cfg")
    assert sentence in atc(folder, *options, fails=True)
