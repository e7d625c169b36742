"""Operators that select by index, with more indices than a kernel's tile, against PyTorch on the CPU."""

import pytest
import torch

from tests.aclnn.cases import LAYOUTS, dtype_name, laid_out, unwritten, whole
from tests.aclnn.compare import assert_same
from tests.aclnn.library import AclnnError, Library
from tests.aclnn.test_index import INDEX_TYPES, indices


@pytest.mark.parametrize("index_type", INDEX_TYPES, ids=dtype_name)
@pytest.mark.parametrize("count", [7, 8, 511, 513, 20_000])
def test_long_indices(library: Library, count: int, index_type: torch.dtype) -> None:
    """Indices are read as vectors and in tiles; rows are copied by their bytes, or element by element."""
    index = indices((count,), 90, dtype=index_type)
    widened = index.long()
    for width in (1, 2, 5, 16):
        for dtype in (torch.int8, torch.float16, torch.float32, torch.complex128):
            x = whole((90, width), dtype, count)
            for layout in LAYOUTS:
                out = unwritten(x[widened], layout)
                library.call("aclnnEmbedding", laid_out(x, layout), laid_out(index, layout), out)
                assert_same(out, x[widened])
                out = unwritten(x.t()[:, widened], layout)
                given = [torch.empty(0), laid_out(index - 90, layout)]
                library.call("aclnnIndex", laid_out(x.t(), layout), given, out)
                assert_same(out, x.t()[:, widened])
    x = whole((90, 60), torch.float32)
    both = indices((count,), 60, "second", dtype=index_type)
    out = torch.zeros(count)
    library.call("aclnnIndex", x, [index, both], out)
    assert_same(out, x[widened, both.long()])
    library.call("aclnnTake", x.t(), index - 90, out)
    assert_same(out, x.t().take(widened - 90))
    source = whole((count,), torch.float32)
    for size in (90, 1):
        out = torch.zeros(size)
        library.call("aclnnScatterAdd", out, 0, index % size, source, out)
        assert_same(out, torch.zeros(size).scatter_add(0, widened % size, source))


def test_few_rows_of_many_elements(library: Library) -> None:
    """Parts of rows are divided among several threads."""
    x = whole((6, 70_001), torch.float32)
    index = torch.tensor([5, 0, 5, 3])
    out = torch.zeros(4, 70_001)
    library.call("aclnnIndexSelect", x, 0, index, out)
    assert_same(out, x[index])
    out = torch.zeros(70_001, 4)
    library.call("aclnnIndexSelect", x.t(), 1, index, out)
    assert_same(out, x.t()[:, index])


@pytest.mark.parametrize("index_type", INDEX_TYPES, ids=dtype_name)
def test_the_first_index_out_of_range_is_named(library: Library, index_type: torch.dtype) -> None:
    x = torch.zeros(50, 4)
    index = torch.zeros(40_000, dtype=index_type)
    for first, second in ((3, 4), (510, 39_999), (20_001, 20_007), (39_998, 39_999)):
        bad = index.clone()
        bad[first], bad[second] = 77, -88
        calls = [
            ("aclnnIndexSelect", x, 0, bad, torch.zeros(40_000, 4)),
            ("aclnnIndex", x, [bad], torch.zeros(40_000, 4)),
            ("aclnnGather", x[:, 0], 0, bad, torch.zeros(40_000)),
            ("aclnnInplaceIndexCopy", x.clone(), 0, bad, torch.zeros(40_000, 4)),
        ]
        for operator, *arguments in calls:
            with pytest.raises(AclnnError, match="index 77 is out of range"):
                library.call(operator, *arguments)
