"""Tensors in blocked formats: their bytes are blocks, and their values do not change."""

import copy
import ctypes
import io
import threading
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler

import memory_use
import pytest
import torch
from torch import Tensor, nn

import torch_npu
from tests import fresh
from tests.aclnn import blocks
from torch_npu import Format, _load, accuracy, get_npu_format, get_storage_size, npu_format_cast
from torch_npu.accuracy import Tolerance

DEVICE_TO_HOST = 2


@pytest.fixture(autouse=True)
def allowed() -> Iterator[None]:
    """Allows blocked formats in this file."""
    torch.npu.config.allow_internal_format = True
    yield
    torch.npu.config.allow_internal_format = False


def held(tensor: Tensor, like: Tensor) -> Tensor:
    """The bytes at the tensor's address, as ``like``."""
    torch.npu.synchronize()
    acl = ctypes.CDLL(_load.bound_library())
    size = ctypes.c_size_t
    acl.aclrtMemcpy.argtypes = [ctypes.c_void_p, size, ctypes.c_void_p, size, ctypes.c_int]
    found = torch.empty_like(like)
    nbytes = found.nbytes
    assert acl.aclrtMemcpy(found.data_ptr(), nbytes, tensor.data_ptr(), nbytes, DEVICE_TO_HOST) == 0
    return found


ROWS = [
    pytest.param(Format.NC1HWC0, (2, 20, 5, 7), blocks.images, id="NC1HWC0"),
    pytest.param(Format.FRACTAL_Z, (18, 20, 3, 3), blocks.weights, id="FRACTAL_Z"),
    pytest.param(Format.FRACTAL_NZ, (20, 33), blocks.matrices(16), id="FRACTAL_NZ"),
    pytest.param(Format.FRACTAL_NZ, (2, 17, 40), blocks.matrices(16), id="FRACTAL_NZ-batch"),
    pytest.param(Format.NDC1HWC0, (2, 20, 3, 5, 7), blocks.volumes, id="NDC1HWC0"),
    pytest.param(Format.FRACTAL_Z_3D, (18, 20, 2, 3, 3), blocks.volume_weights, id="FRACTAL_Z_3D"),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64], ids=str)
@pytest.mark.parametrize(("number", "shape", "reference"), ROWS)
def test_the_storage_contains_blocks(number, shape, reference, dtype):
    x = (torch.randn(shape) * 100).to(dtype)
    expected = reference(x).contiguous()
    before = memory_use.settled()
    cast = npu_format_cast(x.npu(), number)
    assert get_npu_format(cast) is number
    assert get_storage_size(cast) == expected.numel()
    assert (cast.shape, cast.stride(), cast.dtype) == (x.shape, x.stride(), dtype)
    assert torch.equal(held(cast, expected), expected)
    back = npu_format_cast(cast, Format.ND)
    assert get_npu_format(back) is Format.ND
    assert torch.equal(back.cpu(), x)
    del cast, back
    assert torch.npu.memory_allocated() == before


def _saved(tensor: Tensor) -> Tensor:
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file)


READERS = {
    "cpu": lambda x: x.cpu(),
    "repr": repr,
    "tolist": lambda x: x.tolist(),
    "transposed": lambda x: x.t().contiguous(),
    "slice": lambda x: x[3:7, 1::2],
    "reshape": lambda x: x.reshape(-1)[5:],
    "as_strided": lambda x: x.as_strided((4, 4), (2, 3), 7),
    "item": lambda x: x[2, 3].item(),
    "index": lambda x: x[torch.tensor([1, 5], device=x.device)],
    "add": lambda x: x + 1,
    "product": lambda x: x.double() @ x.double().t(),
    "lists": lambda x: torch._foreach_add([x, x], 1),
    "a kernel on the host": lambda x: torch.linalg.svdvals(x),
    "clone": torch.clone,
    "deepcopy": copy.deepcopy,
    "saved": _saved,
    "half": lambda x: x.half(),
    "cat": lambda x: torch.cat([x, x]),
    "copied to": lambda x: torch.zeros_like(x).copy_(x),
    "where": lambda x: torch.where(x > 0, x, -x),
}


@pytest.mark.parametrize("name", READERS)
def test_readers_get_the_plain_tensor(name):
    torch.manual_seed(0)
    x = torch.randn(20, 33)
    plain = x.npu()
    cast = npu_format_cast(plain, Format.FRACTAL_NZ)
    found, expected = READERS[name](cast), READERS[name](plain)
    if isinstance(found, str):
        assert found == expected
    else:
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert get_npu_format(cast) is Format.FRACTAL_NZ
    assert torch.equal(cast.cpu(), x)


WRITERS = {
    "relu_": lambda x: x.relu_(),
    "slice": lambda x: x[2:4].zero_(),
    "out": lambda x: torch.neg(x, out=x),
    "copy_": lambda x: x.copy_(torch.arange(20.0)[:, None]),
    "transposed": lambda x: x.t().mul_(2),
    "index_put_": lambda x: x.index_put_((torch.tensor([1], device=x.device),), x.new_ones(())),
    "data": lambda x: x.data.add_(1),
    "lists": lambda x: torch._foreach_mul_([x], 3),
    "a kernel on the host": lambda x: torch.linalg.svdvals(x[:3, :3], out=x[0, :3]),
    "fill_": lambda x: x.fill_(4),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_write_keeps_the_format(name):
    torch.manual_seed(0)
    x = torch.randn(20, 33)
    plain = x.npu()
    cast = npu_format_cast(plain, Format.FRACTAL_NZ)
    view = cast[1:]
    WRITERS[name](plain)
    WRITERS[name](cast)
    assert torch.equal(cast.cpu(), plain.cpu())
    assert torch.equal(view.cpu(), plain[1:].cpu())
    assert get_npu_format(cast) is Format.FRACTAL_NZ
    assert npu_format_cast(cast, Format.FRACTAL_NZ) is cast
    expected = blocks.matrices(16)(plain.cpu()).contiguous()
    assert torch.equal(held(cast, expected), expected)


def test_in_place():
    x, other = torch.randn(20, 33), torch.randn(20, 33)
    y = x.npu()
    assert torch_npu.npu_format_cast_(y, Format.FRACTAL_NZ) is y
    expected = blocks.matrices(16)(x).contiguous()
    assert torch.equal(held(y, expected), expected)
    torch_npu.npu_format_cast_(y, other.npu())
    expected = blocks.matrices(16)(other).contiguous()
    assert torch.equal(held(y, expected), expected)
    torch_npu.npu_format_cast_(y, Format.ND)
    assert torch.equal(held(y, other), other)


def test_the_format_of_another_tensor():
    like = npu_format_cast(torch.zeros(3, 4).npu(), Format.FRACTAL_NZ)
    assert get_npu_format(npu_format_cast(torch.ones(5, 6).npu(), like)) is Format.FRACTAL_NZ


def test_a_gradient_passes():
    x = torch.randn(4, 6, device="npu", requires_grad=True)
    npu_format_cast(x, Format.FRACTAL_NZ).mul(3).sum().backward()
    assert torch.equal(x.grad.cpu(), torch.full((4, 6), 3.0))


DEEP_COPIES = {
    "blocks": lambda x: x,
    "made plain": lambda x: (x + 1, x)[1],  # the addition reads plain elements
    "a view": lambda x: x[1:],
}


@pytest.mark.parametrize("name", DEEP_COPIES)
def test_deep_copies_keep_the_format(name):
    plain = torch.randn(20, 33)
    x = npu_format_cast(plain.npu(), Format.FRACTAL_NZ)
    view = DEEP_COPIES[name](x)
    copied = copy.deepcopy(view)
    assert get_npu_format(copied) is Format.FRACTAL_NZ is get_npu_format(view)
    assert torch.equal(copied.cpu(), DEEP_COPIES[name](plain))
    copied.zero_()
    assert torch.equal(x.cpu(), plain)
    assert copy.deepcopy(plain.npu()).tolist() == plain.tolist()


def test_deep_copies_keep_the_names_of_dimensions():
    x = npu_format_cast(torch.randn(2, 3, 4, 5).npu(), Format.NHWC)
    copied = copy.deepcopy(x)
    assert get_npu_format(copied) is Format.NHWC
    assert torch.equal(copied.cpu(), x.cpu())
    layer = nn.Linear(33, 20).npu()
    layer.weight.data = npu_format_cast(layer.weight.data, Format.FRACTAL_NZ)
    assert get_npu_format(copy.deepcopy(layer).weight) is Format.FRACTAL_NZ


def test_a_layer_with_weights_in_blocks_trains():
    torch.manual_seed(0)
    layer = nn.Conv2d(3, 20, 3)
    other = copy.deepcopy(layer).npu()
    other.weight.data = npu_format_cast(other.weight.data, Format.FRACTAL_Z)
    image = torch.randn(2, 3, 8, 8)
    for model, x in (layer, image), (other, npu_format_cast(image.npu(), Format.NC1HWC0)):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
    accuracy.assert_close(other.weight, layer.weight, Tolerance(1e-5, 1e-6), equal_nan=False)
    assert get_npu_format(other.weight) is Format.FRACTAL_Z


def test_blocks_of_a_dtype():
    x = torch.randn(15, 17)
    float32 = 256
    cast = npu_format_cast(x.npu(), Format.FRACTAL_NZ, customize_dtype=float32)
    expected = blocks.matrices(8)(x).contiguous()
    assert torch.equal(held(cast, expected), expected)
    assert torch.equal(cast.cpu(), x)


def test_threads_and_streams_read_one_tensor():
    x = torch.randn(64, 48)
    for _ in range(20):
        cast = npu_format_cast(x.npu(), Format.FRACTAL_NZ)
        torch.npu.synchronize()
        found: list[Tensor] = []

        def read(cast: Tensor = cast, found: list[Tensor] = found) -> None:
            with torch.npu.stream(torch.npu.Stream()):
                found.append((cast * 2).cpu())

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        assert all(torch.equal(result, x * 2) for result in found)


def test_the_block_stays_with_its_stream():
    """The first reader uses another stream; the block returns to the stream that allocated it."""
    x = torch.randn(512, 512)
    cast = npu_format_cast(x.npu(), Format.FRACTAL_NZ)
    torch.npu.synchronize()
    address = cast.data_ptr()
    with torch.npu.stream(torch.npu.Stream()):
        assert torch.equal(cast.cpu(), x)
        assert cast.data_ptr() == address
        results = [cast * i for i in range(20)]
        torch.npu.current_stream().synchronize()
    own = [cast + i for i in range(20)]
    del cast
    with torch.npu.stream(torch.npu.Stream()):
        other = torch.zeros(512, 512, device="npu")
        assert other.data_ptr() != address
    assert all(torch.equal(result.cpu(), x * i) for i, result in enumerate(results))
    assert all(torch.equal(result.cpu(), x + i) for i, result in enumerate(own))


def test_cpu_view_made_before_the_cast():
    x = torch.randn(20, 33)
    y = x.npu()
    torch.linalg.svdvals(y)  # runs on the AI CPU
    torch_npu.npu_format_cast_(y, Format.FRACTAL_NZ)
    assert torch.equal(torch.linalg.svdvals(y).cpu(), torch.linalg.svdvals(x))
    assert npu_format_cast(y, Format.FRACTAL_NZ) is y
    assert torch.equal(torch.linalg.svdvals(y).cpu(), torch.linalg.svdvals(x))


def test_noncontiguous_tensors_are_cast():
    x = torch.randn(2, 20, 5, 7).npu()
    for view in x.transpose(2, 3), x.contiguous(memory_format=torch.channels_last), x[:, 3:]:
        cast = npu_format_cast(view, Format.NC1HWC0)
        expected = blocks.images(view.cpu()).contiguous()
        assert cast.is_contiguous()
        assert torch.equal(held(cast, expected), expected)
        assert torch.equal(cast.cpu(), view.cpu())


@pytest.mark.parametrize("level", ["1", "2"])
def test_casts_with_a_launching_thread(level):
    code = """
import torch, torch_npu
torch.npu.config.allow_internal_format = True
x = torch.randn(64, 48)
for _ in range(50):
    cast = torch_npu.npu_format_cast(x.npu() * 2, torch_npu.Format.FRACTAL_NZ)
    cast.add_(1)
    assert torch.equal(cast.cpu(), x * 2 + 1)
print(torch_npu.get_npu_format(cast))
"""
    assert fresh.output(code, TASK_QUEUE_ENABLE=level) == "FRACTAL_NZ"


def test_formats_that_name_dimensions():
    x = torch.randn(2, 3, 4, 5).npu()
    assert get_npu_format(x) is Format.NCHW
    assert get_npu_format(torch.zeros(1, 1, 1, 1, 1).npu()) is Format.NCDHW
    assert get_npu_format(torch.zeros(3).npu()) is Format.ND
    assert npu_format_cast(x, Format.NHWC) is x
    assert get_npu_format(x) is Format.NHWC
    assert str(get_npu_format(x)) == "NHWC"


def test_empty_with_format():
    for make in torch_npu.empty_with_format, torch_npu.unsafe_empty_with_format:
        created = make((20, 33), dtype=torch.float16, device="npu", acl_format=Format.FRACTAL_NZ)
        assert get_npu_format(created) is Format.FRACTAL_NZ
        assert (created.shape, created.dtype, get_storage_size(created)) == (
            (20, 33),
            torch.half,
            32 * 48,
        )
        assert torch.equal(created.fill_(2).cpu(), torch.full((20, 33), 2).half())
        assert get_npu_format(make((2, 3, 4, 5))) is Format.NCHW
        empty = make((2, 0), acl_format=Format.FRACTAL_NZ)
        assert (get_npu_format(empty), get_storage_size(empty)) == (Format.FRACTAL_NZ, 0)


def test_empty_with_format_is_filled_by_deterministic_algorithms():
    torch.use_deterministic_algorithms(True)
    try:
        for make in torch_npu.empty_with_format, torch_npu.unsafe_empty_with_format:
            for variant in (Format.ND, Format.FRACTAL_NZ):
                assert make((5, 3), acl_format=variant).cpu().isnan().all()
            assert make((5, 3), dtype=torch.int8).cpu().eq(127).all()
    finally:
        torch.use_deterministic_algorithms(False)


NOT_ALLOWED = """
import torch, torch_npu
x = torch.randn(20, 33).npu()
cast = torch_npu.npu_format_cast(x, torch_npu.Format.FRACTAL_NZ)
empty = torch_npu.empty_with_format((2, 3), acl_format=torch_npu.Format.FRACTAL_NZ)
print(torch.npu.config.allow_internal_format, torch_npu.get_npu_format(cast), torch_npu.get_npu_format(empty))
print(cast is x, torch.equal(cast, x))
"""


def test_internal_formats_need_permission():
    result = fresh.run(NOT_ALLOWED)
    assert result.stdout.split() == ["False", "ND", "ND", "False", "True"]
    assert result.stderr.count("Cannot create tensor with internal format") == 1
    with pytest.raises(TypeError, match="allow_internal_format must be a bool"):
        torch.npu.config.allow_internal_format = "yes"


def test_unsupported_casts_are_refused():
    x = torch.randn(2, 3, 4, 5, 6).npu()
    with pytest.raises(RuntimeError, match="unknown format type:77"):
        npu_format_cast(x, 77)
    with pytest.raises(RuntimeError, match="NC1HWC0 is for NCHW, and there are 5 sizes"):
        npu_format_cast(x, Format.NC1HWC0)
    with pytest.raises(RuntimeError, match=r"npu::get_npu_format: .* is on cpu"):
        get_npu_format(torch.zeros(2))
    with pytest.raises(ValueError, match="cpu"):
        torch_npu.empty_with_format((2,), device="cpu")
    assert torch.equal(x.cpu(), x.cpu())


def test_a_pickled_storage_loses_the_format():
    x = torch.randn(20, 33)
    cast = npu_format_cast(x.npu(), Format.FRACTAL_NZ)
    ForkingPickler.dumps(cast)
    assert get_npu_format(cast) is Format.ND
    assert torch.equal(held(cast, x), x)


def test_resized_storages_lose_the_format():
    x = torch.randn(20, 33)
    cast = npu_format_cast(x.npu(), Format.FRACTAL_NZ)
    cast.resize_(40, 33)
    assert get_npu_format(cast) is Format.ND
    assert torch.equal(cast[:20].cpu(), x)
