"""torch.compile on npu: bytes of bool tensors as masks of vectors, in full vectors and in the remainder."""

import pytest
import torch
from torch._inductor import config


def pick(mask, x, y):
    return torch.where(mask, x, y), x <= 0, (x > y) & mask


@pytest.mark.parametrize("bits", [512, 256])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_masks_of_vectors(bits, dtype):
    sizes = (1, 7, 8, 15, 16, 17, 31, 40, 999)
    with config.patch({"cpp.simdlen": bits}):
        compiled = torch.compile(pick, dynamic=True, fullgraph=True)
        for size in sizes:
            x, y = torch.randn(2, size).to(dtype)
            x[size // 2] = float("nan")
            mask = torch.rand(size) < 0.5
            results = compiled(mask.npu(), x.npu(), y.npu())
            for ours, theirs in zip(results, pick(mask, x, y), strict=True):
                assert torch.equal(ours.cpu().nan_to_num(9), theirs.nan_to_num(9))
                assert ours.dtype is theirs.dtype
            assert all(set(r.cpu().view(torch.uint8).tolist()) <= {0, 1} for r in results[1:])
