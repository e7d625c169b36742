"""Layouts, structures and tables of results."""

import math

import pytest
import torch

from torch_npu.accuracy import compare, table
from torch_npu.accuracy.layouts import layout_of, layout_problem, layout_problems, significant
from torch_npu.accuracy.structure import same_values, structure_problem


def test_strides_and_bytes():
    x = torch.zeros(3, 1, 5)
    assert significant(layout_of(x)) == (5, 1)
    assert significant(layout_of(x[:0])) == ()
    assert layout_problem(layout_of(x), layout_of(x.clone())) == ""
    turned = torch.zeros(5, 1, 3).permute(2, 1, 0)
    assert layout_problem(layout_of(x), layout_of(turned)) == (
        "strides (1, 3, 3) of (3, 1, 5), not (5, 5, 1)"
    )
    part = torch.zeros(600)[:15].view(3, 1, 5)
    assert layout_problem(layout_of(x), layout_of(part)) == (
        "a storage of 2400 bytes, not of at most 512"
    )
    assert layout_problems([x, 1], [turned, 1])[0].startswith("result 0 has strides")
    with pytest.raises(ValueError, match="shorter"):
        layout_problems([x], [])


def test_structures():
    x = torch.ones(2)
    assert structure_problem([x, 1], [x, 1]) == ""
    assert structure_problem([x], [x, x]) == "2 results, not 1"
    assert structure_problem([x], [1]) == "result 0 is int, not Tensor"
    assert structure_problem([x], [x.int()]) == "result 0 is torch.int32 [2], not torch.float32 [2]"
    nan = torch.tensor([math.nan, 0.0])
    assert same_values([nan, 1, math.nan], [-nan, 1, math.nan])
    for other in ([nan], [nan, 1.0, math.nan], [x, 1, math.nan], [nan.half(), 1, math.nan]):
        assert not same_values([nan, 1, math.nan], other)


def test_a_table_has_aligned_columns():
    x = torch.tensor([[1.0, 2.0]])
    found = {
        "weight": compare(x, x),
        "a.longer.name": compare(x + 1, x),
        "steps": compare(torch.tensor(3), torch.tensor(3)),
        "other": compare(x, x.t()),
    }
    assert table(found).split("\n") == [
        "name           shape   dtype     wrong  max abs diff  max rel diff    cosine  verdict",
        "weight         1x2     float32  0 of 2             0             0  1.000000  close",
        "a.longer.name  1x2     float32  2 of 2             1             1  0.992278  differs",
        "steps          scalar  int64    0 of 1             0             0  1.000000  close",
        "other          1x2     float32       -             -             -         -"
        "  the shape is [1, 2], not [2, 1]",
    ]
