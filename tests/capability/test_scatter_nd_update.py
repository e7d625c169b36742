"""npu_scatter_nd_update and its in-place form, against torch.index_put."""

import pytest
import torch

import torch_npu

OPS = torch.ops.npu
CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
DTYPES = [
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.int8,
    torch.int64,
    torch.bool,
]


def reference(x, indices, updates):
    return x.index_put(tuple(indices.long().unbind(-1)), updates)


def case(width, dtype=torch.float32, index=torch.int64):
    """Different indices of the first ``width`` dimensions, two by two of them."""
    x = torch.arange(4 * 5 * 6).reshape(4, 5, 6).to(dtype)
    every = torch.cartesian_prod(*(torch.arange(n) for n in x.shape[:width])).reshape(-1, width)
    chosen = every[torch.randperm(len(every), generator=torch.Generator().manual_seed(width))[:4]]
    indices = chosen.reshape(2, 2, width).to(index)
    updates = torch.arange(1, 1 + 4 * x[0].numel()).to(dtype)
    size = (2, 2, *x.shape[width:])
    return x, indices, updates[: torch.Size(size).numel()].reshape(size)


@pytest.mark.parametrize("index", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", [1, 2, 3])
def test_values(width, dtype, index):
    x, indices, updates = case(width, dtype, index)
    n = x.npu()
    got = torch_npu.npu_scatter_nd_update(n, indices.npu(), updates.npu())
    assert torch.equal(got.cpu(), reference(x, indices, updates))
    assert torch.equal(n.cpu(), x)
    version = n._version
    assert torch_npu.npu_scatter_nd_update_(n, indices.npu(), updates.npu()) is n
    assert n._version == version + 1
    assert torch.equal(n.cpu(), got.cpu())


def test_views_and_empty_tensors():
    x, indices, updates = case(2)
    n = x.mT.contiguous().npu().mT
    spread = torch.stack((indices, indices), -1).npu()[..., 0]
    OPS.npu_scatter_nd_update_(n, spread, updates.npu())
    assert torch.equal(n.cpu(), reference(x, indices, updates))
    same = OPS.npu_scatter_nd_update(x.npu(), indices[:0].npu(), updates[:0].npu())
    assert torch.equal(same.cpu(), x)


@pytest.mark.parametrize("name", ["npu_scatter_nd_update", "npu_scatter_nd_update_"])
def test_opcheck_and_other_devices(name):
    given = tuple(t.npu() for t in case(2))
    op = getattr(OPS, name).default
    torch.library.opcheck(op, given, test_utils=CHECKS)
    for i in range(3):
        with pytest.raises(RuntimeError, match=f"npu::{name}.* on cpu"):
            op(*(v.cpu() if k == i else v for k, v in enumerate(given)))


def test_errors_name_the_cause():
    x, indices, updates = (t.npu() for t in case(2))
    with pytest.raises(RuntimeError, match="updates"):
        OPS.npu_scatter_nd_update(x, indices, updates[0])
    with pytest.raises(RuntimeError, match="indices is a tensor of Float"):
        OPS.npu_scatter_nd_update(x, indices.float(), updates)
    with pytest.raises(RuntimeError, match="indices are"):
        OPS.npu_scatter_nd_update(x, torch.zeros(2, 4, dtype=torch.int64, device="npu"), updates)

    def beyond():
        OPS.npu_scatter_nd_update_(x, indices + 100, updates)
        torch.npu.synchronize()

    with pytest.raises(IndexError, match="index 101 is out of range"):
        beyond()
