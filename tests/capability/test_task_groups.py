"""Task groups of captured graphs: an operator with other lengths, which the host knows, in each replay."""

import pytest
import torch

import torch_npu

HEADS, SIZE, BLOCK = 2, 16, 8


def attention(query, cache, table, length, out):
    return torch_npu.npu_fused_infer_attention_score.out(
        query, cache, cache,
        num_heads=HEADS, num_key_value_heads=HEADS, input_layout="TND", scale=SIZE**-0.5,
        block_table=table, block_size=BLOCK, sparse_mode=0,
        actual_seq_lengths=[1], actual_seq_lengths_kv=[length], out=out,
    )  # fmt: skip


@pytest.fixture
def inputs():
    torch.manual_seed(3)
    query = torch.randn(1, HEADS, SIZE, device="npu")
    cache = torch.randn(4, BLOCK, HEADS * SIZE, device="npu")
    table = torch.tensor([[2, 0, 3, 1]], dtype=torch.int32, device="npu")
    out = [torch.zeros(1, HEADS, SIZE, device="npu"), torch.zeros(1, device="npu")]
    return query, cache, table, out


def expected(query, cache, table, length):
    keys = cache[table[0].long()].view(-1, HEADS, SIZE)[:length].cpu()
    scores = torch.einsum("hd,khd->hk", query[0].cpu(), keys) * SIZE**-0.5
    return torch.einsum("hk,khd->hd", scores.softmax(-1), keys)[None]


def test_attention_of_other_lengths(inputs):
    query, cache, table, out = inputs
    attention(query, cache, table, 5, out)
    graph = torch.npu.NPUGraph()
    event = torch.npu.ExternalEvent()
    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        scaled = query * 2
        event.wait(stream)
        event.reset(stream)
        torch.npu.graph_task_group_begin(stream)
        attention(scaled, cache, table, 5, out)
        handle = torch.npu.graph_task_group_end(stream)
        result = out[0] + 1
    updates = torch.npu.Stream()
    for length in (5, 1, 17, 32):
        graph.replay()
        with torch.npu.stream(updates):
            torch.npu.graph_task_update_begin(updates, handle)
            attention(scaled, cache, table, length, out)
            torch.npu.graph_task_update_end(updates)
            event.record(updates)
        torch.npu.synchronize()
        torch.testing.assert_close(result.cpu(), 1 + expected(2 * query, cache, table, length))


def test_errors(inputs):
    query, cache, table, out = inputs
    stream = torch.npu.Stream()
    with pytest.raises(RuntimeError, match="captures nothing"):
        torch.npu.graph_task_group_begin(stream)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        capturing = torch.npu.current_stream()
        torch.npu.graph_task_group_begin(capturing)
        attention(query, cache, table, 5, out)
        handle = torch.npu.graph_task_group_end(capturing)
    torch.npu.graph_task_update_begin(stream, handle)
    with pytest.raises(RuntimeError, match="the update has 0 tasks"):
        torch.npu.graph_task_update_end(stream)
    graph.reset()
    with pytest.raises(RuntimeError, match="no live task group"):
        torch.npu.graph_task_update_begin(stream, handle)
