"""Indices that another process changes while an operator uses them: an error at times, never a crash."""

import pytest
import torch
from sharing_child import change_the_first, child

_COUNT = 20000
_OPERATORS = {
    "embedding_dense_backward": lambda index: torch.ops.aten.embedding_dense_backward(
        torch.ones(_COUNT, 4, device="npu"), index, 2, -1, False
    ),
    "index_add of halves": lambda index: torch.zeros(
        2, 4, device="npu", dtype=torch.half
    ).index_add(0, index, torch.ones(_COUNT, 4, device="npu", dtype=torch.half)),
    "repeat_interleave": lambda index: torch.repeat_interleave(index),
    "index_select": lambda index: torch.ones(2, 4, device="npu").index_select(0, index),
}


@pytest.mark.parametrize("name", _OPERATORS)
def test_indices_are_read_once(name):
    """Runs until both states of the indices were seen."""
    index = torch.ones(_COUNT, dtype=torch.int64, device="npu")
    seen = {True: 0, False: 0}
    with child(change_the_first) as (send, answer, process):
        send.put(index)
        assert answer() == "here"
        while min(seen.values()) < 20:
            try:
                _OPERATORS[name](index)
                torch.npu.synchronize()
                seen[True] += 1
            except (IndexError, RuntimeError):
                seen[False] += 1
            assert process.is_alive()
        send.put("end")
