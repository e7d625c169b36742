"""Models whose sizes a run gives: any sizes by descriptions of the inputs, or those of a list."""

import ctypes
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graph.acl_model import LIB, AclError, Dataset, Dims, Model, acl, call

WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
ATC = LIB.parent / "cann" / "bin" / "atc"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """softmax(x w) of x [batch, length, 3], with a shape that is computed from x's."""
    nodes = [
        helper.make_node("Shape", ["x"], ["dims"], start=0, end=2),
        helper.make_node("Concat", ["dims", "last"], ["sizes"], axis=0),
        helper.make_node("Reshape", ["x", "flat"], ["rows"]),
        helper.make_node("MatMul", ["rows", "w"], ["product"]),
        helper.make_node("Softmax", ["product"], ["weights"]),
        helper.make_node("Reshape", ["weights", "sizes"], ["y"]),
    ]
    constants = {"last": np.array([4]), "flat": np.array([-1, 3]), "w": WEIGHT}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "length", 4])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    file = tmp_path_factory.mktemp("open") / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


def compiled(path, *options: str) -> Model:
    command = [ATC, f"--model={path}", "--framework=5", f"--output={path.with_suffix('')}"]
    done = subprocess.run(
        [*command, "--soc_version=Ascend310", *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return Model(path.with_suffix(".om"))


def expected(x):
    power = np.exp(x @ WEIGHT - (x @ WEIGHT).max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def image(*dims: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(dims, np.float32)


def output_dims(dataset: Dataset) -> list[int]:
    desc = ctypes.c_void_p(acl().aclmdlGetDatasetTensorDesc(dataset.handle, ctypes.c_size_t(0)))
    assert desc.value
    dims, size = [], ctypes.c_int64()
    for i in range(acl().aclGetTensorDescNumDims(desc)):
        call(acl().aclGetTensorDescDimV2(desc, ctypes.c_size_t(i), ctypes.byref(size)))
        dims.append(size.value)
    return dims


def test_any_sizes(path):
    acl().aclmdlGetDatasetTensorDesc.restype = ctypes.c_void_p
    acl().aclCreateTensorDesc.restype = ctypes.c_void_p
    acl().aclGetTensorDescNumDims.restype = ctypes.c_size_t
    model = compiled(path, "--input_shape=x:-1,-1,3")
    assert model.dims("Input", 0) == [-1, -1, 3]
    assert model.dims("Output", 0) == [-1, -1, 4]
    assert (model.sizes("Input"), model.sizes("Output")) == ([0], [0])
    for dims in [(1, 2, 3), (4, 5, 3), (1, 2, 3), *((1, n, 3) for n in range(1, 12))]:
        x = image(*dims)
        given, result = Dataset([x.nbytes]), Dataset([x.nbytes // 3 * 4])
        given.memory[0].write(x)
        sizes = (ctypes.c_int64 * 3)(*dims)
        desc = ctypes.c_void_p(acl().aclCreateTensorDesc(0, 3, sizes, 2))
        call(acl().aclmdlSetDatasetTensorDesc(given.handle, desc, ctypes.c_size_t(0)))
        acl().aclDestroyTensorDesc(desc)
        call(acl().aclmdlExecute(model.id, given.handle, result.handle))
        assert output_dims(result) == [*dims[:2], 4]
        actual = result.memory[0].read(np.dtype(np.float32), [*dims[:2], 4])
        np.testing.assert_allclose(actual, expected(x), rtol=1e-5)
    bare = Dataset([36])  # without sizes
    with pytest.raises(AclError, match=r"input 0 \(x\) does not have the sizes"):
        call(acl().aclmdlExecute(model.id, bare.handle, result.handle))
    model.close()


def run_with_sizes(model: Model, x: np.ndarray, columns: int) -> np.ndarray:
    """A run of a model of one input and one output [.., columns] with the sizes of ``x``."""
    acl().aclCreateTensorDesc.restype = ctypes.c_void_p
    given, result = Dataset([x.nbytes]), Dataset([x.nbytes // x.shape[-1] * columns])
    given.memory[0].write(x)
    sizes = (ctypes.c_int64 * x.ndim)(*x.shape)
    desc = ctypes.c_void_p(acl().aclCreateTensorDesc(0, x.ndim, sizes, 2))
    call(acl().aclmdlSetDatasetTensorDesc(given.handle, desc, ctypes.c_size_t(0)))
    acl().aclDestroyTensorDesc(desc)
    call(acl().aclmdlExecute(model.id, given.handle, result.handle))
    return result.memory[0].read(np.dtype(np.float32), [*x.shape[:-1], columns])


def test_data_in_other_files(path, tmp_path):
    """The compiled model has what was in other files, which may be gone when it is loaded."""
    copy, data = tmp_path / "copy.onnx", tmp_path / "weights.bin"
    onnx.save(
        onnx.load(path), copy, save_as_external_data=True, location=data.name, size_threshold=0
    )
    assert data.stat().st_size >= WEIGHT.nbytes
    model = compiled(copy, "--input_shape=x:-1,-1,3")
    data.unlink()
    model.close()
    model = Model(copy.with_suffix(".om"))
    for dims in ((1, 2, 3), (5, 1, 3)):
        x = image(*dims)
        np.testing.assert_allclose(run_with_sizes(model, x, 4), expected(x), rtol=1e-5)
    model.close()
    command = [ATC, f"--model={copy}", "--framework=5", f"--output={tmp_path / 'again'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"the file {data} with external data cannot be read" in done.stderr


def test_weights_are_shared(tmp_path):
    """Two entries of a list need the weights once."""
    weight = np.ones((256, 4096), np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 256])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4096])],
        [numpy_helper.from_array(weight, "w")],
    )
    file = tmp_path / "large.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    free, total = ctypes.c_size_t(), ctypes.c_size_t()

    def used() -> int:
        call(acl().aclrtGetMemInfo(1, ctypes.byref(free), ctypes.byref(total)))
        return total.value - free.value

    before = used()
    model = compiled(file, "--input_shape=x:-1,256", "--dynamic_batch_size=1,2,4,8")
    assert weight.nbytes <= used() - before < 2 * weight.nbytes
    model.close()
    assert used() - before < weight.nbytes


def test_a_list_of_batches(path):
    model = compiled(path, "--input_shape=x:-1,2,3", "--dynamic_batch_size=1,4")
    assert model.names("Input") == ["x", "ascend_mbatch_shape_data"]
    assert model.sizes("Input") == [4 * 2 * 3 * 4, 8]
    assert model.sizes("Output") == [4 * 2 * 4 * 4]
    index = ctypes.c_size_t()
    call(
        acl().aclmdlGetInputIndexByName(
            model.desc, b"ascend_mbatch_shape_data", ctypes.byref(index)
        )
    )
    given, result = Dataset(model.sizes("Input")), Dataset(model.sizes("Output"))
    for batch in (4, 1):
        x = image(batch, 2, 3)
        given.memory[0].write(x)
        call(acl().aclmdlSetDynamicBatchSize(model.id, given.handle, index, ctypes.c_uint64(batch)))
        call(acl().aclmdlExecute(model.id, given.handle, result.handle))
        dims = Dims()
        call(acl().aclmdlGetCurOutputDims(model.desc, ctypes.c_size_t(0), ctypes.byref(dims)))
        assert list(dims.dims[: dims.dim_count]) == [batch, 2, 4]
        actual = result.memory[0].read(np.dtype(np.float32), [batch, 2, 4])
        np.testing.assert_allclose(actual, expected(x), rtol=1e-5)
    with pytest.raises(AclError, match=r"not in the list that the model was compiled with: 1; 4"):
        call(acl().aclmdlSetDynamicBatchSize(model.id, given.handle, index, ctypes.c_uint64(2)))
    with pytest.raises(AclError, match="not compiled with such a list"):
        call(
            acl().aclmdlSetDynamicHWSize(
                model.id, given.handle, index, ctypes.c_uint64(2), ctypes.c_uint64(2)
            )
        )
    model.close()


def test_a_list_of_all_open_sizes(path):
    model = compiled(path, "--input_shape=x:-1,-1,3", "--dynamic_dims=1,2;3,5")
    count = ctypes.c_size_t()
    call(
        acl().aclmdlGetInputDynamicGearCount(
            model.desc, ctypes.c_size_t(2**64 - 1), ctypes.byref(count)
        )
    )
    assert count.value == 2
    entries = (Dims * 2)()
    call(acl().aclmdlGetInputDynamicDims(model.desc, ctypes.c_size_t(2**64 - 1), entries, count))
    assert [list(entry.dims[: entry.dim_count]) for entry in entries] == [[1, 2, 3], [3, 5, 3]]
    given, result = Dataset(model.sizes("Input")), Dataset(model.sizes("Output"))
    for entry in entries:
        x = image(*entry.dims[:3])
        given.memory[0].write(x)
        call(
            acl().aclmdlSetInputDynamicDims(
                model.id, given.handle, ctypes.c_size_t(1), ctypes.byref(entry)
            )
        )
        call(acl().aclmdlExecute(model.id, given.handle, result.handle))
        actual = result.memory[0].read(np.dtype(np.float32), [*x.shape[:2], 4])
        np.testing.assert_allclose(actual, expected(x), rtol=1e-5)
    model.close()
