"""Bad input: one clear exception with the reason and the remedy, no lost data, a usable device.

Elsewhere: devices that do not exist, no device, malformed variables, fork (test_device.py); a CANN that does not load
(test_load.py); the C ABI's own errors (tests/abi/test_ctypes.py); shapes and dtypes of products (test_matmul.py).
"""

import ctypes
import gc
import pickle
import re
import warnings

import fresh
import memory_use
import pytest
import torch

import torch_npu
from torch_npu import _load


@pytest.fixture(autouse=True)
def nothing_is_lost():
    """Tensors keep their values, and no memory is leaked."""
    kept = torch.arange(1000.0, device="npu")
    before = memory_use.settled()  # exceptions and their frames reference each other
    yield
    assert torch.equal(kept.cpu(), torch.arange(1000.0))
    assert (kept * 2).sum().item() == 999_000
    gc.collect()
    assert torch.npu.memory_allocated() == before


# ---- devices, dtypes, shapes

MIXED = {
    "add": lambda npu, cpu: npu + cpu,
    "add_": lambda npu, cpu: npu.add_(cpu),
    "cat": lambda npu, cpu: torch.cat([npu, cpu]),
    "mm": lambda npu, cpu: npu @ cpu,
    "where": lambda npu, cpu: torch.where(npu > 0, npu, cpu),
    "linear": lambda npu, cpu: torch.nn.functional.linear(npu, cpu),
    "convolution": lambda npu, cpu: torch.conv1d(npu[None], cpu[None]),
    "index": lambda npu, cpu: npu.index_select(0, cpu[0].long()),
}


@pytest.mark.parametrize("name", MIXED)
def test_npu_with_cpu(name):
    npu = torch.ones(3, 3, device="npu")
    message = (
        "[Ee]xpected all tensors to be on the same device.*at least two devices, npu:0 and cpu"
    )
    with pytest.raises(RuntimeError, match=message):
        MIXED[name](npu, torch.zeros(3, 3))
    assert torch.equal(npu.cpu(), torch.ones(3, 3))


TWO_DEVICES = """
import pytest, torch
a, b = torch.ones(3, 3, device="npu:0"), torch.full((3, 3), 2.0, device="npu:1")
before = [torch.npu.memory_allocated(i) for i in range(2)]
for work in (lambda: a + b, lambda: a.add_(b), lambda: a @ b, lambda: torch.cat([b, a]), lambda: b.where(b > 0, a)):
    with pytest.raises(RuntimeError, match="same device.*npu:[01] and npu:[01]"):
        work()
with pytest.raises(RuntimeError, match="npu:[01] and npu:[01]"):
    torch.add(a, a, out=b)
assert a.tolist() == [[1.0] * 3] * 3 and b.tolist() == [[2.0] * 3] * 3
assert before == [torch.npu.memory_allocated(i) for i in range(2)]
print((a + 1).sum().item(), (b + 1).sum().item())
"""


def test_npu_with_another_npu():
    assert fresh.output(TWO_DEVICES, SOFTNPU_DEVICE_COUNT="2") == "18.0 27.0"


UNSUPPORTED = {
    "bool product": lambda d: torch.ones(2, 2, dtype=torch.bool, device=d).mm(
        torch.ones(2, 2, dtype=torch.bool, device=d)
    ),
    "bool negation": lambda d: -torch.ones(2, dtype=torch.bool, device=d),
    "integer inverse": lambda d: torch.linalg.inv(torch.ones(2, 2, dtype=torch.int64, device=d)),
    "bitwise float": lambda d: torch.ones(2, device=d) & torch.ones(2, device=d),
    "complex order": lambda d: torch.ones(2, dtype=torch.complex64, device=d).max(),
    "uint16 arithmetic": lambda d: torch.ones(2, dtype=torch.uint16, device=d) + 1,
    "result that does not fit": lambda d: torch.ones(2, dtype=torch.int32, device=d).add_(1.5),
    "half cholesky": lambda d: torch.linalg.cholesky(torch.eye(2, dtype=torch.half, device=d)),
    "index of floats": lambda d: torch.ones(3, device=d)[torch.ones(2, device=d)],
    "integer softmax": lambda d: torch.ones(3, dtype=torch.int64, device=d).softmax(0),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_dtype_that_the_cpu_refuses(name):
    with pytest.raises(Exception) as on_cpu:  # noqa: PT011  # what the CPU says is what is compared
        UNSUPPORTED[name]("cpu")
    with pytest.raises(on_cpu.type) as on_npu:
        UNSUPPORTED[name]("npu")
    # The CPU's message, with the operator in place of the CPU's kernel.
    message, wanted = (str(error.value).splitlines()[0] for error in (on_npu, on_cpu))
    assert "_cpu" not in message
    assert re.fullmatch(
        re.sub(r'\w+_cpu\w*|(?<=")\w+(?="\\ not\\ implemented)', r"\\w+", re.escape(wanted)),
        message,
    )


def out_cases(device: str):
    """Calls with an invalid ``out``."""
    a = torch.arange(6.0, device=device).view(2, 3)
    return {
        "add": lambda out: torch.add(a, 1, out=out),
        "mm": lambda out: torch.mm(a, a.T, out=out),
        "sort": lambda out: torch.sort(a, out=(out, torch.empty(0, dtype=torch.long, device=device))),
        "cat": lambda out: torch.cat([a, a], out=out),
    }  # fmt: skip


@pytest.mark.parametrize("name", out_cases("cpu"))
def test_out_of_the_wrong_shape_is_resized_with_a_warning(name):
    message, outs = {}, {}
    for device in ("cpu", "npu"):
        outs[device] = torch.full((5,), -1.0, device=device)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out_cases(device)[name](outs[device])
        message[device] = [str(w.message) for w in caught]
    assert len(message["npu"]) == 1
    assert "An output with one or more elements was resized" in message["npu"][0]
    assert message["npu"] == message["cpu"]
    torch.testing.assert_close(outs["npu"].cpu(), outs["cpu"])


@pytest.mark.parametrize(
    "name", ["add", "mm", "sort"]
)  # cat converts to the dtype of out, on every device
def test_out_of_the_wrong_dtype(name):
    with pytest.raises(RuntimeError) as on_cpu:
        out_cases("cpu")[name](torch.empty(0, dtype=torch.int64))
    out = torch.full((5,), 7, dtype=torch.int64, device="npu")
    with pytest.raises(RuntimeError) as on_npu:
        out_cases("npu")[name](out)
    assert str(on_npu.value).split("\n[ERROR]")[0] == str(on_cpu.value)
    assert out.tolist() == [7] * 5


@pytest.mark.parametrize("name", out_cases("cpu"))
def test_out_on_the_wrong_device(name):
    out = torch.full((5,), 7.0)
    with pytest.raises(
        RuntimeError, match=r"[Ee]xpected all tensors to be on the same device|Expected out tensor"
    ):
        out_cases("npu")[name](out)
    assert out.tolist() == [7.0] * 5


# ---- addresses


def test_a_foreign_pointer_is_not_freed():
    host = ctypes.create_string_buffer(64)
    live = torch.npu.caching_allocator_alloc(4096)
    for foreign in (ctypes.addressof(host), live + 512, 1):
        with pytest.raises(RuntimeError, match="invalid device pointer: 0x"):
            torch.npu.caching_allocator_delete(foreign)
    torch.npu.caching_allocator_delete(live)
    with pytest.raises(RuntimeError, match="invalid device pointer: 0x"):
        torch.npu.caching_allocator_delete(live)
    torch.npu.caching_allocator_delete(0)


class DLDevice(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class DLTensor(ctypes.Structure):
    """The fields of a DLPack tensor as its public specification names them."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


# Targets of capsules: a tensor made from one reads it again when it is destroyed.
MANAGED: list[object] = []


def capsule(address: int, elements: int):
    """A DLPack capsule that claims ``elements`` floats of npu:0 at ``address``."""
    shape = (ctypes.c_int64 * 1)(elements)
    managed = DLTensor(address, DLDevice(12, 0), 1, 2, 32, 1, shape, None, 0, None, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    MANAGED.extend((shape, managed))
    return new(ctypes.addressof(managed), b"dltensor", None)


def test_no_tensor_over_a_foreign_address():
    x = torch.arange(4.0, device="npu")
    assert torch.utils.dlpack.from_dlpack(capsule(x.data_ptr(), 4)).tolist() == [0.0, 1.0, 2.0, 3.0]
    host = torch.arange(4.0)
    foreign = torch.utils.dlpack.from_dlpack(capsule(host.data_ptr(), 4))
    for work in (foreign.add, foreign.add_, x.add_, x.mul, foreign.fill_, lambda y: y @ foreign):
        with pytest.raises(
            RuntimeError, match=r"is not in the memory of npu:0: make npu tensors|is not a device's"
        ):
            work(foreign)
    with pytest.raises(RuntimeError, match="does not fit its addresses: source on the host"):
        foreign.cpu()
    with pytest.raises(RuntimeError, match="runs past its allocation"):
        torch.utils.dlpack.from_dlpack(capsule(x.data_ptr(), 1 << 32)).sum()
    assert host.tolist() == x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_copies_with_foreign_pointers_are_refused_by_the_runtime():
    acl = ctypes.CDLL(_load.bound_library())
    acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
    size = ctypes.c_size_t
    acl.aclrtMemcpy.argtypes = [ctypes.c_void_p, size, ctypes.c_void_p, size, ctypes.c_int]
    acl.aclrtFree.argtypes = [ctypes.c_void_p]
    x = torch.zeros(4, device="npu")
    host = torch.ones(4)
    device_to_device = 3
    assert acl.aclrtMemcpy(x.data_ptr(), 16, host.data_ptr(), 16, device_to_device) != 0
    assert b"does not fit its addresses: source on the host" in acl.aclGetRecentErrMsg()
    base, bytes_ = torch_npu._C.device_range(0)
    assert acl.aclrtMemcpy(x.data_ptr(), 16, base + bytes_ - 16, 16, device_to_device) != 0
    assert b"in no live allocation" in acl.aclGetRecentErrMsg()
    assert acl.aclrtFree(host.data_ptr()) != 0
    assert b"is not a device address" in acl.aclGetRecentErrMsg()
    assert x.tolist() == [0.0] * 4


RESET = """
import ctypes, pytest, torch
from torch_npu import _load
x = torch.arange(4.0, device="npu:0")
other = torch.arange(4.0, device="npu:1")
stream, event = torch.npu.Stream(0), torch.npu.Event()
event.record()
with torch.npu.stream(stream):
    product = torch.ones(900, 900, device="npu:0") @ torch.ones(900, 900, device="npu:0")  # may be in the queue still
allocated = torch.npu.memory_allocated(0)
assert ctypes.CDLL(_load.bound_library()).softnpuReleaseDevice(0) == 0
said = "npu:0 was reset by aclrtResetDevice.*Restart the process"
for work in (
    lambda: x + 1,
    lambda: x.add_(1),
    lambda: x.tolist(),
    lambda: x.cpu(),
    lambda: product @ product,
    lambda: repr(x),
    lambda: torch.ones(4).npu(),
    lambda: torch.empty(4, device="npu:0"),
    lambda: torch.empty(0, device="npu:0"),
    lambda: torch.empty(1 << 26, device="npu:0"),
    lambda: x.copy_(other),
    lambda: other.copy_(x),
    lambda: torch.npu.synchronize(0),
    lambda: stream.synchronize(),
    lambda: stream.query(),
    lambda: stream.wait_event(event),
    lambda: event.record(),
    lambda: torch.npu.empty_cache(),
    lambda: torch.npu.mem_get_info(0),
    lambda: torch.npu.caching_allocator_alloc(100),
    lambda: torch.randn(3, device="npu:0"),
    lambda: torch.npu.set_device(0),
):
    with pytest.raises(RuntimeError, match=said):
        work()
assert x.shape == (4,) and torch.npu.memory_allocated(0) == allocated
del x, product, stream, event
assert other.tolist() == [0.0, 1.0, 2.0, 3.0]
torch.npu.set_device(1)
assert (other + torch.ones(4, device="npu")).tolist() == [1.0, 2.0, 3.0, 4.0]
torch.npu.synchronize()
print("ok")
"""


@pytest.mark.parametrize("inline", ["0", "1"])
def test_use_after_reset_device(inline):
    assert fresh.output(RESET, SOFTNPU_DEVICE_COUNT="2", SOFTNPU_INLINE=inline) == "ok"


def test_a_reset_before_the_first_use_has_no_effect():
    program = (
        "import ctypes, torch\n"
        "from torch_npu import _load\n"
        "acl = ctypes.CDLL(_load.bound_library())\n"
        "assert acl.aclInit(None) == 0\n"
        "assert acl.aclrtSetDevice(0) == 0 and acl.aclrtResetDevice(0) == 0\n"
        "print((torch.ones(2, device='npu') + 1).tolist())"
    )
    assert fresh.output(program) == "[2.0, 2.0]"


# ---- checkpoints


@pytest.fixture
def checkpoint(tmp_path):
    """A file with two npu tensors, and their values."""
    values = {"w": torch.arange(300.0).view(20, 15), "n": torch.arange(7)}
    file = tmp_path / "checkpoint.pt"
    torch.save({k: v.npu() for k, v in values.items()}, file)
    return file, values


@pytest.mark.parametrize("part", [0.01, 0.2, 0.6, 0.99])
def test_a_truncated_checkpoint(checkpoint, part):
    file, _ = checkpoint
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises((RuntimeError, EOFError), match=r"PytorchStreamReader|central directory"):
        torch.load(file)


def _is_refused_without_text(file):
    """Whether PyTorch itself refuses the file without a text: some Pythons lose texts that are not UTF-8."""
    try:
        torch.load(file, map_location="cpu")
    except Exception as error:
        return not str(error)
    return False


def test_a_checkpoint_with_flipped_bytes(checkpoint):
    # PyTorch does not verify checksums: a changed number is another number. Everything else raises an exception.
    file, values = checkpoint
    whole = file.read_bytes()
    refused = silent = 0
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            loaded = torch.load(file)
            for key in set(values) & set(loaded):
                assert loaded[key].cpu().numel() >= 0
        except (RuntimeError, pickle.UnpicklingError, ValueError, TypeError, KeyError, AttributeError, EOFError,
                IndexError, OverflowError, AssertionError) as error:  # fmt: skip
            refused += 1
            silent += not str(error) and not _is_refused_without_text(file)
    assert refused > 0
    assert silent == 0
    file.write_bytes(whole)
    assert torch.equal(torch.load(file)["w"].cpu(), values["w"])


def test_a_checkpoint_of_a_missing_device(tmp_path):
    file = tmp_path / "second.pt"
    save = "import sys, torch; torch.save(torch.arange(5.0, device='npu:1'), sys.argv[1])"
    fresh.output(save, str(file), SOFTNPU_DEVICE_COUNT="2")
    message = r"on NPU device 1 but torch\.npu\.device_count\(\) is 1\. Please use torch\.load with map_location"
    with pytest.raises(RuntimeError, match=message):
        torch.load(file)
    for target in ("npu", "npu:0", "cpu", {"npu:1": "npu:0"}):
        loaded = torch.load(file, map_location=target)
        assert loaded.device.type == ("cpu" if target == "cpu" else "npu")
        assert loaded.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    load = (
        "import sys, torch; x = torch.load(sys.argv[1], map_location={'npu:1': 'npu:0'}); "
        "print(x.device, torch.load(sys.argv[1]).device)"
    )
    assert fresh.output(load, str(file), SOFTNPU_DEVICE_COUNT="2") == "npu:0 npu:1"


# ---- memory

BACKWARD = """
import pytest, torch
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Tanh()) for _ in range(8)]).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(batch):
    x = torch.ones(batch, 512, device="npu")
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    value = loss.item()
    optimizer.zero_grad()
    return value


class Greedy(torch.autograd.Function):
    # What asks for more memory in the middle of the backward pass than there is.
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad + torch.empty(1 << 30, dtype=torch.uint8, device="npu")[: grad.numel()].view(grad.shape)


first = step(64)
before = torch.npu.memory_allocated()
weights = [p.detach().cpu() for p in model.parameters()]
x = torch.ones(64, 512, device="npu")
with pytest.raises(torch.OutOfMemoryError, match=r"NPU out of memory\\. Tried to allocate 1024.00 MiB.*empty_cache"):
    half = len(model) // 2
    model[half:](Greedy.apply(model[:half](x))).square().mean().backward()
assert any(p.grad is not None for p in model[-1].parameters()) and model[0][0].weight.grad is None
del x
optimizer.zero_grad()
torch.npu.synchronize()
assert torch.npu.memory_allocated() == before, (torch.npu.memory_allocated(), before)
assert all(torch.equal(w, p.detach().cpu()) for w, p in zip(weights, model.parameters()))
assert torch.npu.memory_stats()["num_ooms"] == 1

# The pass itself fills the device: its activations fit, its gradients do not.
batch, failed = 64, None
while failed is None:
    batch *= 2
    try:
        step(batch)
    except torch.OutOfMemoryError as error:
        failed = str(error)
assert "NPU out of memory" in failed
optimizer.zero_grad()
torch.npu.synchronize()
assert torch.npu.memory_allocated() == before
losses = [step(64) for _ in range(5)]
assert losses == sorted(losses, reverse=True) and losses[-1] < first
assert torch.npu.memory_allocated() == before
print("ok")
"""


def test_out_of_memory_in_a_backward_pass():
    assert fresh.output(BACKWARD, SOFTNPU_HBM="256M") == "ok"


def test_exceptions_of_queued_work_leave_no_trace():
    # The host detects wrong shapes before any launch: the queue is unchanged.
    stream = torch.npu.Stream()
    with torch.npu.stream(stream), pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        torch.ones(3, 4, device="npu") @ torch.ones(3, 4, device="npu")
    stream.synchronize()


@pytest.mark.parametrize("function", [torch.mm, torch.matmul, torch.mv, torch.dot, torch.bmm])
def test_products_of_two_types_are_refused_as_on_the_cpu(function):
    """aclnn promotes factors of float32 and float16; PyTorch's operators do not."""
    sizes = {torch.mv: ((3, 3), (3,)), torch.dot: ((3,), (3,)), torch.bmm: ((2, 3, 3),) * 2}
    a, b = (torch.ones(shape) for shape in sizes.get(function, ((3, 3),) * 2))
    with pytest.raises(RuntimeError):
        function(a, b.half())
    with pytest.raises(RuntimeError):
        function(a.npu(), b.half().npu())
