"""Memory that is given back by a function that a stream waits for: it must not wait for the stream."""

import fresh
import pytest
import torch

POOL = """
import sys
sys.path.insert(0, "tests")
import gated, torch

MiB = 1 << 20
stream = torch.npu.Stream()
pool = torch.npu.MemPool()
with torch.npu.use_mem_pool(pool), torch.npu.stream(stream):
    x = torch.ones(MiB, device="npu")
torch.npu.synchronize()
kept = {"pool": pool, "x": x}
identity = pool.id
del pool, x

def segments():
    return [s for s in torch.npu.memory_snapshot() if s["segment_pool_id"] == identity]

assert segments()
getattr(gated, sys.argv[1])(stream, kept.clear)
stream.synchronize()
assert not kept
torch.npu.empty_cache()
assert not segments()
assert (torch.ones(2, device="npu") + 1).tolist() == [2, 2]
print("ended")
"""

WITHOUT_CACHE = """
import sys
sys.path.insert(0, "tests")
import gated, torch

stream = torch.npu.Stream()
with torch.npu.stream(stream):
    kept = {"x": torch.ones(1 << 20, device="npu")}
torch.npu.synchronize()
before = torch.npu.memory_reserved()
getattr(gated, sys.argv[1])(stream, kept.clear)
stream.synchronize()
y = torch.ones(1 << 21, device="npu")
assert torch.npu.memory_reserved() - y.nbytes < before, "the freed memory was not returned"
print("ended")
"""


@pytest.mark.parametrize("how", ["launch_on_host", "launch"])
def test_a_pool_ends_within_a_function_of_a_stream(how):
    assert fresh.output(POOL, how) == "ended"


def test_memory_without_a_cache_is_freed_within_a_function_of_a_stream():
    text = fresh.output(WITHOUT_CACHE, "launch_on_host", PYTORCH_NO_NPU_MEMORY_CACHING="1")
    assert text == "ended"


def test_a_pool_ends_while_a_function_of_a_stream_frees_memory():
    import gated

    stream = torch.npu.Stream()
    pool = torch.npu.MemPool()
    with torch.npu.use_mem_pool(pool):
        x = torch.ones(1 << 20, device="npu")
    other = {"y": torch.ones(1 << 20, device="npu")}
    torch.npu.synchronize()
    gate = gated.Gate(stream)
    with gate:
        gated.launch_on_host(stream, other.clear)
        del x
        gate.open_later()
        del pool  # waits for the stream, whose function takes the allocator's lock
    stream.synchronize()
    assert not other
