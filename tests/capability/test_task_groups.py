"""Task groups of captured graphs: an operator with other lengths, which the host knows, in each replay."""

import os
import subprocess
import sys

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


def captured(x, out, stream=None):
    """A graph whose group is ``out = x * 2 + 1``, with a value that lives across it, and the value's copy."""
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, stream=stream):
        across = x * 5
        capturing = torch.npu.current_stream()
        torch.npu.graph_task_group_begin(capturing)
        doubled = x * 2
        torch.add(doubled, 1, out=out)
        handle = torch.npu.graph_task_group_end(capturing)
        result = across + 0
    return graph, handle, result


def update(stream, handle, x, factor, out):
    with torch.npu.stream(stream):
        torch.npu.graph_task_update_begin(stream, handle)
        scaled = x * factor
        torch.add(scaled, 1, out=out)
        torch.npu.graph_task_update_end(stream)
    stream.synchronize()


def test_the_memory_of_an_update_is_the_graphs():
    x, out = torch.arange(4096.0, device="npu"), torch.zeros(4096, device="npu")
    graph, handle, _ = captured(x, out)
    stream = torch.npu.Stream()
    for factor in (3, 4, 7):
        update(stream, handle, x, factor, out)
        with torch.npu.stream(stream):
            victims = [torch.full((4096,), -5.0, device="npu") for _ in range(8)]
        stream.synchronize()
        torch.npu.empty_cache()
        graph.replay()
        torch.npu.synchronize()
        torch.testing.assert_close(out, x * factor + 1)
        assert all((victim == -5).all() for victim in victims)


def test_an_update_that_fails_gives_its_stream_back():
    x, out = torch.arange(4096.0, device="npu"), torch.zeros(4096, device="npu")
    graph, handle, _ = captured(x, out)
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        torch.npu.graph_task_update_begin(stream, handle)
        with pytest.raises(RuntimeError, match="the update has 0 tasks"):
            torch.npu.graph_task_update_end(stream)
        outside = torch.full((4096,), -5.0, device="npu")
    stream.synchronize()
    pools = {
        tuple(segment["segment_pool_id"])
        for segment in torch.npu.memory_snapshot()
        if segment["address"] <= outside.data_ptr() < segment["address"] + segment["total_size"]
    }
    assert pools == {(0, 0)}
    graph.replay()
    torch.testing.assert_close(out, x * 2 + 1)


def test_an_update_on_the_captured_stream_takes_nothing_of_the_capture():
    x, out = torch.arange(4096.0, device="npu"), torch.zeros(4096, device="npu")
    stream = torch.npu.Stream()
    graph, handle, result = captured(x, out, stream)  # `across` is free by now
    update(stream, handle, x, 3, out)
    graph.replay()
    torch.npu.synchronize()
    torch.testing.assert_close(out, x * 3 + 1)
    torch.testing.assert_close(result, x * 5)


def test_the_memory_of_updates_goes_with_the_graph():
    x, out = torch.arange(4096.0, device="npu"), torch.zeros(4096, device="npu")
    stream = torch.npu.Stream()

    def reserved():
        torch.npu.synchronize()
        torch.npu.empty_cache()
        return torch.npu.memory_reserved()

    before = reserved()
    graph, handle, result = captured(x, out)
    update(stream, handle, x, 3, out)
    del result
    assert reserved() > before
    graph.reset()
    del graph, handle  # the graph holds generators, too
    assert reserved() == before


# The queue of a stream holds 1024 tasks: the end of an update waits for room, which another thread makes.
WAITS = """
import threading, torch, torch_npu
x, out = torch.arange(64.0, device="npu"), torch.zeros(64, device="npu")
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    capturing = torch.npu.current_stream()
    torch.npu.graph_task_group_begin(capturing)
    torch.add(x, 1, out=out)
    handle = torch.npu.graph_task_group_end(capturing)
event, stream, other = torch.npu.ExternalEvent(), torch.npu.Stream(), torch.npu.Stream()
event.wait(stream)
threading.Timer(2, event.record, (other,)).start()
with torch.npu.stream(stream):
    for i in range(1500):
        torch.npu.graph_task_update_begin(stream, handle)
        torch.add(x, i, out=out)
        torch.npu.graph_task_update_end(stream)
stream.synchronize()
graph.replay()
assert out[0].item() == 1499
"""


def test_the_end_of_an_update_waits_without_the_gil():
    environment = {k: v for k, v in os.environ.items() if k != "ASCEND_LAUNCH_BLOCKING"}
    subprocess.run([sys.executable, "-c", WAITS], env=environment, timeout=120, check=True)


def test_nested_captures_are_refused():
    x, out = torch.arange(64.0, device="npu"), torch.zeros(64, device="npu")
    inner, _handle, _ = captured(x, out)
    outer = torch.npu.NPUGraph()
    refused = pytest.raises(RuntimeError, match="a replay of a graph with task groups cannot be")
    with refused, torch.npu.graph(outer):
        inner.replay()
    inner.replay()
    torch.testing.assert_close(out, x * 2 + 1)


def test_a_group_that_is_not_ended_is_an_error():
    x = torch.arange(64.0, device="npu")
    graph = torch.npu.NPUGraph()
    refused = pytest.raises(RuntimeError, match="has an open task group")
    with refused, torch.npu.graph(graph):
        torch.npu.graph_task_group_begin(torch.npu.current_stream())
        x.add_(1)
    with torch.npu.graph(graph):  # the stream is usable
        x.add_(1)
    graph.replay()
    torch.testing.assert_close(x.cpu(), torch.arange(1.0, 65.0))


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
