"""Single-operator models: atc --singleop writes them, aclopLoad, aclopSetModelDir and aclmdl load them."""

import ctypes
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from graph.acl_model import DTYPES, LIB, AclError, Memory, Model, acl, call

ATC = LIB.parent / "cann" / "bin" / "atc"
NUMBERS = {np.dtype(name): number for number, name in DTYPES.items() if name != "bfloat16"}
ND, HOST = 2, 1  # ACL_FORMAT_ND, ACL_MEMTYPE_HOST


def tensor(*shape: int, dtype: str = "float", format_: str = "ND") -> dict:
    """A description in JSON."""
    return {"format": format_, "shape": list(shape), "type": dtype}


def operator(type_: str, inputs: list[dict], outputs: list[dict], *attr: dict) -> dict:
    return {"op": type_, "input_desc": inputs, "output_desc": outputs, "attr": list(attr)}


def attribute(name: str, type_: str, value) -> dict:
    return {"name": name, "type": type_, "value": value}


def atc(folder: Path, operators, fails: bool = False) -> str:
    """Writes the models into ``folder``/models; what atc prints."""
    (folder / "list.json").write_text(
        operators if isinstance(operators, str) else json.dumps(operators)
    )
    arguments = ["--singleop=list.json", "--soc_version=any", "--output=models"]
    done = subprocess.run(
        [ATC, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def loaded(folder: Path) -> None:
    """Loads all models of ``folder``/models by aclopLoad."""
    for path in (folder / "models").iterdir():
        data = path.read_bytes()
        call(acl().aclopLoad(data, ctypes.c_size_t(len(data))))


class Side:
    """Descriptions and buffers of the inputs or the outputs of a call."""

    def __init__(self, arrays: Sequence[np.ndarray], on_host: Sequence[int] = ()):
        self.arrays = [np.ascontiguousarray(array) for array in arrays]
        self.memory = [Memory(array.nbytes) for array in self.arrays]
        self.descs = (ctypes.c_void_p * len(arrays))()
        self.buffers = (ctypes.c_void_p * len(arrays))()
        library = acl()
        library.aclCreateTensorDesc.restype = ctypes.c_void_p
        for i, (array, memory) in enumerate(zip(self.arrays, self.memory, strict=True)):
            dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
            self.descs[i] = library.aclCreateTensorDesc(NUMBERS[array.dtype], array.ndim, dims, ND)
            address = memory.address
            if i in on_host:
                address = ctypes.c_void_p(array.ctypes.data)
                call(library.aclSetTensorPlaceMent(ctypes.c_void_p(self.descs[i]), HOST))
            memory.write(array)
            self.buffers[i] = library.aclCreateDataBuffer(address, ctypes.c_size_t(array.nbytes))

    def __del__(self) -> None:
        for desc, buffer in zip(self.descs, self.buffers, strict=True):
            acl().aclDestroyTensorDesc(ctypes.c_void_p(desc))
            acl().aclDestroyDataBuffer(ctypes.c_void_p(buffer))

    def read(self, index: int = 0) -> np.ndarray:
        """A tensor after the default stream's work."""
        call(acl().aclrtSynchronizeStream(None))
        return self.memory[index].read(self.arrays[index].dtype, self.arrays[index].shape)


class Attributes:
    """An aclopAttr of integers, numbers, flags and lists of integers."""

    def __init__(self, **values):
        library = acl()
        library.aclopCreateAttr.restype = ctypes.c_void_p
        self.handle = ctypes.c_void_p(library.aclopCreateAttr())
        for name, value in values.items():
            key = name.encode()
            if isinstance(value, bool):
                call(library.aclopSetAttrBool(self.handle, key, value))
            elif isinstance(value, int):
                call(library.aclopSetAttrInt(self.handle, key, ctypes.c_int64(value)))
            elif isinstance(value, float):
                call(library.aclopSetAttrFloat(self.handle, key, ctypes.c_float(value)))
            else:
                numbers = (ctypes.c_int64 * len(value))(*value)
                call(library.aclopSetAttrListInt(self.handle, key, len(value), numbers))

    def __del__(self) -> None:
        acl().aclopDestroyAttr(self.handle)


def execute(type_: str, inputs: Side, outputs: Side, attributes: Attributes | None = None) -> None:
    """aclopExecuteV2 on the default stream."""
    handle = None if attributes is None else attributes.handle
    call(
        acl().aclopExecuteV2(
            type_.encode(),
            len(inputs.descs),
            inputs.descs,
            inputs.buffers,
            len(outputs.descs),
            outputs.descs,
            outputs.buffers,
            handle,
            None,
        )
    )


def numbers(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)


def test_names_of_files(tmp_path):
    message = atc(
        tmp_path,
        [
            operator("Mul", [tensor(2, 8), tensor(8, dtype="half")], [tensor(2, 8)]),
            operator("Relu", [tensor(1, 3, 2, 2, format_="NCHW")], [tensor(1, 3, 2, 2)]),
        ],
    )
    assert message.endswith("ATC run success\n")
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == [
        "0_Mul_0_2_2_8_1_2_8_0_2_2_8.om",
        "1_Relu_0_0_1_3_2_2_0_2_1_3_2_2.om",
    ]


def test_an_operator_is_found_by_its_descriptions(tmp_path):
    softmax = operator(
        "SoftmaxV2", [tensor(2, 5)], [tensor(2, 5)], attribute("axes", "list_int", [0])
    )
    atc(tmp_path, [operator("Mul", [tensor(2, 5), tensor(5)], [tensor(2, 5)]), softmax])
    loaded(tmp_path)
    x, y = Side([numbers(2, 5), numbers(5)]), Side([np.zeros((2, 5), np.float32)])
    execute("Mul", x, y)
    np.testing.assert_array_equal(y.read(), numbers(2, 5) * numbers(5))
    execute("SoftmaxV2", Side([numbers(2, 5)]), y, Attributes(axes=[0]))
    np.testing.assert_allclose(y.read().sum(0), 1, rtol=4 * np.finfo(np.float32).eps)


@pytest.mark.parametrize(
    ("type_", "inputs", "attributes", "sentence"),
    [
        ("Tan", [(2, 3)], {}, "no model of the operator Tan is loaded; loaded are "),
        ("ReduceSum", [(2, 3)], {}, r"fits (type 0 format 2 [2,3]) -> (type 0 format 2 [2,3])"),
        ("Neg", [(3, 2)], {}, "loaded are:\n  (type 0 format 2 [2,3]) -> (type 0 format 2 [2,3])"),
        ("LeakyRelu", [(2, 3)], {"negative_slope": 0.5}, "{negative_slope: 0.5}; loaded are:"),
    ],
)
def test_wrong_descriptions(tmp_path, type_, inputs, attributes, sentence):
    slope = attribute("negative_slope", "float", 0.25)
    atc(
        tmp_path,
        [
            operator("Neg", [tensor(2, 3)], [tensor(2, 3)]),
            operator("LeakyRelu", [tensor(2, 3)], [tensor(2, 3)], slope),
            operator("ReduceSum", [tensor(2, 3), tensor(1, dtype="int64")], [tensor(2)]),
        ],
    )
    loaded(tmp_path)
    given = Side([np.zeros(shape, np.float32) for shape in inputs])
    with pytest.raises(AclError) as error:
        execute(type_, given, Side([np.zeros((2, 3), np.float32)]), Attributes(**attributes))
    assert error.value.code == 100024
    assert sentence in str(error.value)


def test_open_sizes_and_numbers_in_host_memory(tmp_path):
    atc(
        tmp_path,
        [
            operator("Exp", [tensor(-1, 3)], [tensor(-1, 3)]),
            operator("ReduceSum", [tensor(-2), tensor(1, dtype="int64")], [tensor(-2)]),
        ],
    )
    loaded(tmp_path)
    for rows in (1, 4):
        x, y = numbers(rows, 3) / 8, Side([np.zeros((rows, 3), np.float32)])
        execute("Exp", Side([x]), y)
        np.testing.assert_allclose(y.read(), np.exp(x), rtol=4 * np.finfo(np.float32).eps)
    axes = np.array([1], np.int64)
    y = Side([np.zeros(4, np.float32)])
    keep = Attributes()
    execute("ReduceSum", Side([numbers(4, 6), axes], on_host=[1]), y, keep)
    np.testing.assert_array_equal(y.read(), numbers(4, 6).sum(1))


def test_a_handle(tmp_path):
    atc(tmp_path, [operator("Sub", [tensor(4), tensor(4)], [tensor(4)])])
    loaded(tmp_path)
    x, y = Side([numbers(4), numbers(4) / 2]), Side([np.zeros(4, np.float32)])
    handle = ctypes.c_void_p()
    library = acl()
    call(library.aclopCreateHandle(b"Sub", 2, x.descs, 1, y.descs, None, ctypes.byref(handle)))
    call(library.aclopExecWithHandle(handle, 2, x.buffers, 1, y.buffers, None))
    np.testing.assert_array_equal(y.read(), numbers(4) / 2)
    assert library.aclopExecWithHandle(handle, 1, x.buffers, 1, y.buffers, None) != 0
    library.aclopDestroyHandle(handle)
    with pytest.raises(AclError, match="no live handle of an operator"):
        call(library.aclopExecWithHandle(handle, 2, x.buffers, 1, y.buffers, None))


def test_aclmdl_runs_one(tmp_path):
    atc(tmp_path, [operator("Mul", [tensor(2, 3), tensor(2, 3)], [tensor(2, 3)])])
    model = Model(next((tmp_path / "models").iterdir()))
    try:
        (y,) = model.run([numbers(2, 3), numbers(2, 3)])
    finally:
        model.close()
    np.testing.assert_array_equal(y, numbers(2, 3) ** 2)


def test_aclop_compile_makes_an_operator_known():
    library = ctypes.CDLL(str(LIB / "cann" / "libacl_op_compiler.so"))
    x, y = Side([numbers(3, 7)]), Side([np.zeros((3, 7), np.float32)])
    with pytest.raises(AclError, match="no model of the operator Square"):
        execute("Square", x, y)
    call(library.aclopCompile(b"Square", 1, x.descs, 1, y.descs, None, 0, 0, None))
    execute("Square", x, y)
    np.testing.assert_array_equal(y.read(), numbers(3, 7) ** 2)
    with pytest.raises(AclError, match="NoSuchOperator: no operator is of this type"):
        call(library.aclopCompile(b"NoSuchOperator", 1, x.descs, 1, y.descs, None, 0, 0, None))


LATER = """
import sys
from graph.acl_model import acl, call
from graph.test_single_operators import Side, execute, numbers
import numpy as np
call(acl().aclopSetModelDir(sys.argv[1].encode()))
y = Side([np.zeros((2, 9), np.float32)])
execute("Sigmoid", Side([numbers(2, 9)]), y)
print(*y.read().ravel())
print(acl().aclopSetModelDir(sys.argv[1].encode()), acl().aclopSetModelDir(b"/nowhere"))
"""
MODE, DIR = 7, 8  # ACL_OP_COMPILER_CACHE_MODE, ACL_OP_COMPILER_CACHE_DIR


def test_a_later_process_runs_what_the_compile_cache_holds(tmp_path):
    library = ctypes.CDLL(str(LIB / "cann" / "libacl_op_compiler.so"))
    x, y = Side([numbers(2, 9)]), Side([np.zeros((2, 9), np.float32)])
    call(acl() and library.aclSetCompileopt(DIR, str(tmp_path / "cache").encode()))
    call(library.aclSetCompileopt(MODE, b"enable"))
    try:
        count, each = len(x.descs), (x.descs, x.buffers, 1, y.descs, y.buffers)
        call(library.aclopCompileAndExecute(b"Sigmoid", count, *each, None, 0, 0, None, None))
    finally:
        call(library.aclSetCompileopt(MODE, b"disable"))
    expected = y.read()
    (file,) = (tmp_path / "cache").iterdir()
    assert file.name.startswith("Sigmoid_")
    assert file.suffix == ".om"
    done = subprocess.run(
        [sys.executable, "-c", LATER, tmp_path / "cache"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    values, codes = done.stdout.splitlines()
    np.testing.assert_array_equal(np.array(values.split(), np.float32), expected.ravel())
    assert codes == "200001 200001"


X = [tensor(2, 3)]


@pytest.mark.parametrize(
    ("operators", "sentence"),
    [
        ("{", "list.json: no JSON at character 2"),
        ({}, "list.json is no list of operators"),
        ([], "list.json has no operators"),
        ([{"input_desc": X}], 'operator 0 has no "op"'),
        ([operator("Fly", X, X)], "operator 0 (Fly): no operator is of this type"),
        ([operator("Neg", X, X), operator("Neg", X + X, X)], "operator 1 (Neg): 2 inputs and 1"),
        ([operator("Neg", [tensor(2, dtype="real")], X)], 'type" real is none of'),
        ([operator("Neg", [tensor(2, format_="XY")], X)], 'format" xy is none of'),
        ([operator("Neg", [tensor(2, -3)], X)], "-3 is no size"),
        ([operator("Neg", [{"shape": [1]}], X)], '"input_desc" 0 has no "type"'),
        (
            [operator("Neg", X, X, attribute("a", "list_int", [1.5]))],
            '"attr" 0, a is no integer',
        ),
        ([operator("Neg", X, X, attribute("a", "tensor", 0))], '"type" tensor is none of'),
    ],
)
def test_what_atc_refuses(tmp_path, operators, sentence):
    assert sentence in atc(tmp_path, operators, fails=True)
    assert not (tmp_path / "models").exists()


def test_other_files_are_refused(tmp_path):
    atc(tmp_path, [operator("Neg", X, X)])
    data = next((tmp_path / "models").iterdir()).read_bytes()
    for bad, sentence in ((data[:-1], "truncated"), (b"x" * 300, "no compiled model")):
        with pytest.raises(AclError, match=sentence):
            call(acl().aclopLoad(bad, ctypes.c_size_t(len(bad))))
