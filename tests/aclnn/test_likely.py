"""The most probable elements of rows, against a sort in float64."""

import pytest
import torch

from tests.aclnn.cases import dtype_name, seeded
from tests.aclnn.compare import assert_same, refused
from tests.aclnn.library import AclnnError, Library

VALUES = (torch.float32, torch.float16, torch.bfloat16)
NAME = "aclnnApplyTopKTopP"


def kept(logits: torch.Tensor, p: torch.Tensor | None, k: torch.Tensor | None) -> torch.Tensor:
    """By a stable sort: of equal elements the last one is the most probable."""
    out = logits.clone()
    for row, given in enumerate(logits.double()):
        order = given.sort(stable=True).indices
        chosen = given[order].clone()
        if k is not None:
            chosen[chosen < chosen[max(0, len(chosen) - int(k[row]))]] = -torch.inf
        if p is not None:
            left = chosen.softmax(0).cumsum(0) <= 1 - p[row].double()
            left[-1] = False
            chosen[left] = -torch.inf
        out[row, order[chosen == -torch.inf]] = -torch.inf
    return out


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (4, 65), (5, 3000)], ids=str)
@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
@pytest.mark.parametrize("spread", [0.1, 6.0])
def test_against_a_sort(library: Library, spread: float, dtype: torch.dtype, shape: tuple) -> None:
    g = seeded("likely", shape, dtype, spread)
    # Numbers of few bits: their probabilities have sums that differ from any p by more than a rounding, and ties.
    logits = ((torch.randn(shape, generator=g) * spread * 4).round() / 4).to(dtype)
    p = (torch.rand(shape[0], generator=g) * 0.9 + 0.05).to(dtype)
    k = torch.randint(1, shape[1] + 3, (shape[0],), generator=g, dtype=torch.int32)
    for given_p in (None, p):
        for given_k in (None, k, k.long()):
            out = torch.zeros_like(logits)
            library.call(NAME, logits.repeat_interleave(2, -1)[:, ::2], given_p, given_k, out)
            assert_same(out, kept(logits, given_p, given_k))


def test_edges(library: Library) -> None:
    inf, nan = float("inf"), float("nan")
    logits = torch.tensor(
        [[1.0, 2, 2, -inf], [-inf, -inf, -inf, -inf], [nan, 1, 2, 3], [inf, 1, 2, 3]]
    )
    out = torch.zeros_like(logits)
    library.call(NAME, logits, torch.tensor([0.0, 0.5, 0.5, 0.5]), None, out)
    assert_same(out[0], torch.tensor([-inf, -inf, 2, -inf]))
    assert torch.equal(out[1:].nan_to_num(7), logits[1:].nan_to_num(7))
    library.call(NAME, logits, torch.ones(4), None, out)
    assert torch.equal(out.nan_to_num(7), logits.nan_to_num(7))


@pytest.mark.parametrize("dtype", VALUES, ids=dtype_name)
def test_nan_is_the_largest(library: Library, dtype: torch.dtype) -> None:
    inf, nan = float("inf"), float("nan")
    rows = [[nan, 1, 2, 3], [3, nan, 1, nan], [nan, nan, nan, inf], [2, 1, nan, -inf], [3, 1, 2, 0]]
    logits = torch.tensor(rows).to(dtype)
    out = torch.zeros_like(logits)
    library.call(NAME, logits, None, torch.full((5,), 2), out)
    assert_same(out[0], torch.tensor([nan, -inf, -inf, 3]).to(dtype))
    # Long rows: candidates are sorted out several times.
    long = torch.cat((logits, logits.flip(0), logits.sort().values.roll(1, 1)), 1).repeat(1, 9)
    for given in (logits, long):
        for k in (1, 2, 3, 4, 9):
            for p in (None, torch.full((5,), 0.4).to(dtype)):
                out, counts = torch.zeros_like(given), torch.full((5,), k)
                library.call(NAME, given, p, counts, out)
                assert_same(out, kept(given, p, counts))


def test_refuses(library: Library) -> None:
    logits, out = torch.randn(2, 3), torch.full((2, 3), 7.0)
    refused(library, NAME, logits, torch.ones(3), None, out, message="p is")
    refused(library, NAME, logits, None, torch.ones(2), out, message="k ")
    refused(library, NAME, logits[0], None, None, out[0], message="logits are")
    with pytest.raises(AclnnError, match="k: 0 is out of range"):
        library.call(NAME, logits, None, torch.tensor([1, 0]), out)
    assert bool((out == 7).all())
