"""Legacy tensor and storage types of npu."""

import inspect
import warnings

import fresh
import pytest
import torch

DTYPES = {
    "BFloat16": torch.bfloat16,
    "Bool": torch.bool,
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Double": torch.float64,
    "Float": torch.float32,
    "Half": torch.float16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Short": torch.int16,
}
COMPLEX = {"ComplexDouble": torch.complex128, "ComplexFloat": torch.complex64}
EACH = pytest.mark.parametrize(("prefix", "dtype"), DTYPES.items(), ids=DTYPES)
EACH_STORAGE = pytest.mark.parametrize(
    ("prefix", "dtype"), (DTYPES | COMPLEX).items(), ids=DTYPES | COMPLEX
)


def tensor_api(suffix=""):
    return pytest.mark.api(*(f"torch.npu.{prefix}Tensor{suffix}" for prefix in DTYPES))


def storage_api(*members):
    return pytest.mark.api(
        *(f"torch.npu.{prefix}Storage{member}" for prefix in DTYPES for member in members)
    )


def by_class(of_type, name, storage):
    """The attribute as the class has it: the instances of legacy classes are ``TypedStorage``."""
    found = inspect.getattr_static(of_type, name)
    return found.fget(storage) if isinstance(found, property) else found


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # typed storages are deprecated
        yield


@tensor_api()
@EACH
def test_instances_are_the_npu_tensors_of_a_dtype(prefix, dtype):
    of_type = getattr(torch.npu, f"{prefix}Tensor")
    x = torch.ones(2, device="npu").to(dtype)
    assert isinstance(x, of_type)
    assert x.type() == f"torch.npu.{prefix}Tensor" == f"{of_type.__module__}.{of_type.__name__}"
    assert not isinstance(x.cpu(), of_type)
    assert not isinstance(x.to(torch.complex64), of_type)
    assert not isinstance(3, of_type)
    assert of_type.dtype is dtype
    assert repr(of_type) == f"<class 'torch.npu.{prefix}Tensor'>"


@tensor_api()
@EACH
def test_types_make_tensors(prefix, dtype):
    of_type = getattr(torch.npu, f"{prefix}Tensor")
    assert of_type(2, 3).shape == of_type(torch.Size([2, 3])).shape == (2, 3)
    assert of_type().shape == (0,)
    created = of_type([[1, 0], [1, 1]])
    assert created.dtype is dtype
    assert created.device == torch.device("npu", torch.npu.current_device())
    assert created.tolist() == [[1, 0], [1, 1]]
    assert of_type(created).data_ptr() == created.data_ptr()
    assert of_type(created.untyped_storage()).shape == (4,)


@EACH
def test_strings_and_classes_convert(prefix, dtype):
    x = torch.tensor([0.0, 1.0, 2.0])
    for target in (f"torch.npu.{prefix}Tensor", getattr(torch.npu, f"{prefix}Tensor")):
        for source in (x, x.npu()):
            converted = source.type(target)
            assert converted.dtype is dtype
            assert converted.device.type == "npu"
            assert torch.equal(converted.cpu(), x.to(dtype))


def test_wrong_arguments_of_types_are_refused():
    with pytest.raises(RuntimeError, match="expects device type: npu but device type: cpu"):
        torch.npu.FloatTensor(2, device="cpu")
    with pytest.raises(TypeError, match=r"expected FloatTensor \(got torch\.npu\.HalfTensor\)"):
        torch.npu.FloatTensor(torch.npu.HalfTensor(2))
    with pytest.raises(TypeError, match=r"got torch\.FloatTensor"):
        torch.npu.FloatTensor(torch.ones(2))
    with pytest.raises((TypeError, ValueError)):
        torch.npu.FloatTensor("abc")


def test_the_default_tensor_type_may_be_npus():
    for name in ("torch.npu.HalfTensor", torch.npu.HalfTensor):
        torch.set_default_tensor_type(name)
        try:
            assert torch.empty(2).type() == "torch.npu.HalfTensor"
            assert torch.tensor(1.5).type() == "torch.npu.HalfTensor"
        finally:
            torch.set_default_tensor_type(torch.FloatTensor)
        assert torch.empty(2).type() == "torch.FloatTensor"


@storage_api("", ".dtype", ".device", ".is_npu", ".is_cuda", ".is_hpu", ".is_sparse", ".type")
@EACH_STORAGE
def test_storages_have_a_dtype(prefix, dtype):
    of_type = getattr(torch.npu, f"{prefix}Storage")
    storage = of_type(4)
    assert of_type.dtype is storage.dtype is dtype
    device = torch.device("npu", torch.npu.current_device())
    for name, expected in {
        "is_npu": True, "is_cuda": False, "is_hpu": False, "is_sparse": False, "device": device,
    }.items():  # fmt: skip
        assert getattr(storage, name) == by_class(of_type, name, storage) == expected
    assert storage.type() == f"torch.npu.{prefix}Storage"
    assert isinstance(storage, of_type)
    assert isinstance(torch.ones(2, device="npu").to(dtype).storage(), of_type)
    assert not isinstance(torch.ones(2).to(dtype).storage(), of_type)
    assert of_type in torch._storage_classes


@storage_api(
    ".size", ".nbytes", ".element_size", ".data_ptr", ".get_device", ".fill_", ".tolist", ".clone",
    ".copy_", ".resize_", ".resizable", ".untyped", ".pickle_storage_type", ".cpu", ".npu", ".to",
)  # fmt: skip
@EACH_STORAGE
def test_storages_have_elements(prefix, dtype):
    storage = getattr(torch.npu, f"{prefix}Storage")([1, 0, 1])
    size = torch.empty(0, dtype=dtype).element_size()
    assert (storage.size(), len(storage), storage.element_size()) == (3, 3, size)
    assert storage.nbytes() == storage.untyped().nbytes() == 3 * size
    assert storage.data_ptr() == storage.untyped().data_ptr() != 0
    assert storage.get_device() == torch.npu.current_device()
    assert storage.tolist() == [1, 0, 1]
    copied = storage.clone()
    assert copied.fill_(0).tolist() == [0, 0, 0]
    assert copied.copy_(storage).tolist() == [1, 0, 1] == storage.cpu().tolist()
    assert storage.cpu().device.type == "cpu"
    assert storage.cpu().npu().tolist() == [1, 0, 1]
    assert storage.to(device="cpu").device.type == "cpu"
    assert storage.npu().data_ptr() == storage.data_ptr()
    assert storage.resizable()
    assert copied.resize_(5) is None
    assert copied.size() == 5
    assert storage.pickle_storage_type() == f"{prefix}Storage"


CASTS = {
    "bfloat16": torch.bfloat16, "bool": torch.bool, "byte": torch.uint8, "char": torch.int8,
    "complex_double": torch.complex128, "complex_float": torch.complex64, "double": torch.float64,
    "float": torch.float32, "float8_e4m3fn": torch.float8_e4m3fn, "float8_e4m3fnuz": torch.float8_e4m3fnuz,
    "float8_e5m2": torch.float8_e5m2, "float8_e5m2fnuz": torch.float8_e5m2fnuz, "half": torch.float16,
    "int": torch.int32, "long": torch.int64, "short": torch.int16,
}  # fmt: skip


@storage_api(*(f".{cast}" for cast in CASTS))
@EACH
def test_storages_convert(prefix, dtype):
    storage = getattr(torch.npu, f"{prefix}Storage")([1, 0])
    for cast, target in CASTS.items():
        if "float8" in cast and dtype is torch.bool:
            continue
        converted = getattr(storage, cast)()
        assert converted.dtype is target
        assert converted.device.type == "npu"
        values = torch.tensor([], dtype=target, device="npu").set_(converted)
        assert values.to(torch.complex64).tolist() == [1, 0]


@storage_api(".from_buffer", ".from_file", ".cuda", ".hpu")
def test_what_storages_on_npu_do_not_have_raises():
    for prefix in DTYPES:
        of_type = getattr(torch.npu, f"{prefix}Storage")
        with pytest.raises(RuntimeError, match="from_buffer: Not available for NPU storage"):
            of_type.from_buffer(b"abcd")
        with pytest.raises(RuntimeError, match="_new_with_weak_ptr: Not available for NPU storage"):
            of_type._new_with_weak_ptr(1)
        with pytest.raises(RuntimeError, match="_new_shared_filename: Not available for NPU"):
            of_type._new_shared_filename(1, 2, 3)
        with pytest.raises(RuntimeError):
            of_type.from_file("/tmp/none", False, 4)
        with pytest.raises((RuntimeError, AssertionError)):
            of_type(2).cuda()
        with pytest.raises((RuntimeError, AssertionError)):
            of_type(2).hpu()


@storage_api(".is_pinned", ".is_shared", ".pin_memory", ".share_memory_", ".filename")
def test_storages_on_npu_are_shared_and_not_pinned():
    for prefix in DTYPES:
        of_type = getattr(torch.npu, f"{prefix}Storage")
        storage = of_type(2)
        assert storage.is_pinned() is False
        assert storage.is_shared() is True  # as CUDA's
        assert storage.filename is None
        assert inspect.getattr_static(of_type, "filename") is torch.TypedStorage.filename
        with pytest.raises(
            TypeError, match=r"cannot pin 'torch\.storage\.UntypedStorage' only CPU memory"
        ):
            storage.pin_memory()
        assert storage.share_memory_() is storage


def test_typed_storages_are_shared_between_processes():
    program = """
import sys, torch, warnings
warnings.simplefilter("ignore")
storage = torch.npu.FloatStorage([1.0, 2.0])
ticket = storage._share_npu_()
print(ticket[0], ticket[2])
same = torch.TypedStorage._new_shared_npu(*ticket)
print(torch.tensor([], device="npu").set_(torch.TypedStorage(wrap_storage=same, dtype=torch.float32, _internal=True)).tolist())
ticket = storage._share_npu_()
torch.TypedStorage._release_ipc_counter_npu(ticket[4], ticket[5])
"""
    assert fresh.output(program).splitlines() == ["0 8", "[1.0, 2.0]"]


def test_types_of_the_cpu_are_not_npus():
    assert (
        torch.ByteTensor.is_npu is torch.FloatTensor.is_npu is torch.cuda.HalfTensor.is_npu is False
    )
    assert torch.npu.ByteTensor.is_npu is True
    assert torch.ByteTensor([3]).is_npu is False
    assert torch.ones(1, device="npu").is_npu is True


@pytest.mark.filterwarnings("default")
def test_constructors_and_the_default_type_are_warned_of_once():
    program = """
import torch, warnings
torch.npu.FloatTensor([1]); torch.npu.FloatTensor(2); torch.npu.HalfTensor(2)
torch.set_default_tensor_type(torch.npu.FloatTensor)
torch.set_default_tensor_type(torch.npu.HalfTensor)
torch.set_warn_always(True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.npu.FloatTensor([1])
    torch.npu.DoubleTensor([1])
print(len(caught), caught[0].lineno, caught[1].lineno)
"""
    result = fresh.run(program)
    assert (
        result.stderr.count("torch_npu.npu.*DtypeTensor constructors are no longer recommended")
        == 1
    )
    assert result.stderr.count("set_default_tensor_type() is deprecated as of PyTorch 2.1") == 1
    assert result.stdout.strip() == "2 9 10"


def test_storages_elsewhere_are_not_shared_as_npus():
    for storage in (
        torch.ones(3).untyped_storage(),
        torch.ones(3, device="meta").untyped_storage(),
    ):
        with pytest.raises(RuntimeError, match="only available on NPU"):
            storage._share_npu_()
    with pytest.raises(RuntimeError, match="only available on NPU"):
        torch.ones(3).storage()._share_npu_()
