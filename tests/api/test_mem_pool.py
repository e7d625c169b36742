"""Private memory pools, and allocators from shared libraries."""

import gc
import subprocess
import threading

import fresh
import pytest
import torch

SOURCE = """
#include <stddef.h>
#include <sys/types.h>
typedef void* stream_t;
int aclrtMalloc(void**, size_t, int);
int aclrtFree(void*);
static long live, calls;
void* give(ssize_t size, int device, stream_t stream) {
  void* address = NULL;
  if (stream == NULL || device != 0 || size <= 0 || size > (1L << 30)) return NULL;
  if (aclrtMalloc(&address, (size_t)size, 0) != 0) return NULL;
  live += size;
  ++calls;
  return address;
}
void take(void* address, ssize_t size, int device, stream_t stream) {
  live -= size;
  aclrtFree(address);
}
long live_bytes(void) { return live; }
long call_count(void) { return calls; }
"""

MiB = 1 << 20


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The path of a shared library with the functions of SOURCE."""
    folder = tmp_path_factory.mktemp("allocator")
    (folder / "allocator.c").write_text(SOURCE)
    path = folder / "liballocator.so"
    command = ["cc", "-shared", "-fPIC", "-o", str(path), str(folder / "allocator.c")]
    subprocess.run(command, check=True)
    return str(path)


def segments_of(pool):
    return [s for s in torch.npu.memory_snapshot() if s["segment_pool_id"] == pool.id]


def in_pool(pool, tensor):
    ranges = [(s["address"], s["address"] + s["total_size"]) for s in pool.snapshot()]
    return any(start <= tensor.data_ptr() < end for start, end in ranges)


@pytest.mark.api(
    "torch.npu.MemPool.id",
    "torch.npu.MemPool.snapshot",
    "torch.npu.use_mem_pool",
    "torch.npu.memory_snapshot",
)
def test_allocations_come_from_the_pool():
    pool, other = torch.npu.MemPool(), torch.npu.MemPool()
    assert pool.id != other.id
    assert pool.snapshot() == []
    with torch.npu.use_mem_pool(pool):
        x = torch.ones(3 * MiB, dtype=torch.uint8, device="npu")
        small = torch.ones(10, device="npu")
        with torch.npu.use_mem_pool(other):
            inner = torch.ones(10, device="npu")
        again = torch.ones(10, device="npu")
    outside = torch.ones(10, device="npu")
    assert all(in_pool(pool, t) for t in (x, small, again))
    assert in_pool(other, inner)
    assert not in_pool(pool, inner)
    assert not in_pool(pool, outside)
    assert not in_pool(other, outside)
    assert pool.snapshot() == segments_of(pool) == torch.npu.memory_snapshot(pool.id)
    assert sum(b["requested_size"] for s in pool.snapshot() for b in s["blocks"]) == (
        x.nbytes + small.nbytes + again.nbytes
    )
    assert (x + 1).max().item() == 2


@pytest.mark.api("torch.npu.MemPool.use_count")
def test_use_count():
    pool = torch.npu.MemPool()
    assert pool.use_count() == 1
    with torch.npu.use_mem_pool(pool):
        assert pool.use_count() == 2
    with pytest.raises(KeyError), torch.npu.use_mem_pool(pool):
        raise KeyError
    assert pool.use_count() == 1


def test_memory_is_freed_with_the_pool():
    torch.npu.empty_cache()
    before = torch.npu.memory_reserved()
    pool = torch.npu.MemPool()
    with torch.npu.use_mem_pool(pool):
        x = torch.ones(30 * MiB, dtype=torch.uint8, device="npu")
        y = torch.ones(25 * MiB, dtype=torch.uint8, device="npu")
    pool_id = pool.id
    assert torch.npu.memory_reserved() >= before + 55 * MiB
    del y
    torch.npu.empty_cache()  # a pool that is alive keeps its memory
    assert torch.npu.memory_reserved() >= before + 55 * MiB
    del pool
    gc.collect()
    assert torch.npu.memory_reserved() < before + 55 * MiB
    # A live tensor survives its pool.
    assert len(torch.npu.memory_snapshot(pool_id)) == 1
    assert x.sum(dtype=torch.int64).item() == 30 * MiB
    del x
    torch.npu.empty_cache()
    assert torch.npu.memory_snapshot(pool_id) == []
    assert torch.npu.memory_reserved() <= before


def test_other_threads_do_not_use_it():
    pool, found = torch.npu.MemPool(), []

    def work():
        found.append(torch.ones(10, device="npu"))

    with torch.npu.use_mem_pool(pool):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert not in_pool(pool, found[0])


def test_freed_memory_is_reused_in_the_pool_only():
    pool = torch.npu.MemPool()
    with torch.npu.use_mem_pool(pool):
        address = torch.ones(100, device="npu").data_ptr()
    outside = [torch.empty(100, device="npu") for _ in range(20)]
    assert address not in [t.data_ptr() for t in outside]
    with torch.npu.use_mem_pool(pool):
        assert torch.empty(100, device="npu").data_ptr() == address


def test_no_split():
    pool = torch.npu.MemPool(no_split=True)
    with torch.npu.use_mem_pool(pool):
        kept = [torch.ones(10, device="npu") for _ in range(3)]
    assert [len(s["blocks"]) for s in pool.snapshot()] == [1, 1, 1]
    assert all(t.sum().item() == 10 for t in kept)


@pytest.mark.api("torch.npu.MemPool")
def test_use_on_oom():
    program = """
import torch
for use_on_oom in (False, True):
    pool = torch.npu.MemPool(use_on_oom=use_on_oom)
    with torch.npu.use_mem_pool(pool):
        x = torch.empty(300 << 20, dtype=torch.uint8, device="npu")
    del x
    try:
        y = torch.empty(300 << 20, dtype=torch.uint8, device="npu")
        print("served", y.data_ptr() == pool.snapshot()[0]["address"])
        del y
    except torch.OutOfMemoryError:
        print("out of memory")
    del pool
"""
    assert fresh.output(program, SOFTNPU_HBM="512M").splitlines() == [
        "out of memory",
        "served True",
    ]


@pytest.mark.api("torch.npu.NPUPluggableAllocator")
def test_a_pool_with_an_allocator(library):
    import ctypes

    functions = ctypes.CDLL(library)
    functions.live_bytes.restype = ctypes.c_long
    allocator = torch.npu.NPUPluggableAllocator(library, "give", "take")
    pool = torch.npu.MemPool(allocator.allocator())
    assert pool.allocator is allocator.allocator()
    with torch.npu.use_mem_pool(pool):
        x = torch.ones(5 * MiB, dtype=torch.uint8, device="npu")
        assert functions.live_bytes() == 5 * MiB
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(2 << 30, dtype=torch.uint8, device="npu")
    assert (x + 1).max().item() == 2
    assert in_pool(pool, x)
    del x, pool
    gc.collect()
    assert functions.live_bytes() == 0


@pytest.mark.api(
    "torch.npu.change_current_allocator",
    "torch.npu.get_allocator_backend",
    "torch.npu.memory._get_current_allocator",
)
def test_the_current_allocator(library):
    program = """
import ctypes, sys, torch
functions = ctypes.CDLL(sys.argv[1])
allocator = torch.npu.NPUPluggableAllocator(sys.argv[1], "give", "take")
torch.npu.change_current_allocator(allocator)
print(torch.npu.get_allocator_backend(), torch.npu.memory._get_current_allocator() is allocator)
model = torch.nn.Linear(8, 4).npu()
loss = model(torch.ones(3, 8, device="npu")).sum()
loss.backward()
print(model.bias.grad.tolist(), functions.call_count() > 0)
x = torch.ones(1000, device="npu")
before = functions.live_bytes()
del x
print(before - functions.live_bytes())
try:
    torch.empty(2 << 30, dtype=torch.uint8, device="npu")
except torch.OutOfMemoryError as error:
    print("returned null" in str(error))
try:
    torch.npu.memory_stats()
except RuntimeError as error:
    print("statistics" in str(error))
torch.npu.empty_cache()
"""
    assert fresh.output(program, library).splitlines() == [
        "pluggable True",
        "[3.0, 3.0, 3.0, 3.0] True",
        "4000",
        "True",
        "True",
    ]
    assert torch.npu.get_allocator_backend() == "native"
    torch.ones(1, device="npu")
    allocator = torch.npu.NPUPluggableAllocator(library, "give", "take")
    with pytest.raises(RuntimeError, match="already initialized"):
        torch.npu.change_current_allocator(allocator)


def test_bad_arguments(library):
    with pytest.raises(OSError, match="missing"):
        torch.npu.NPUPluggableAllocator("/missing.so", "give", "take")
    with pytest.raises(AttributeError, match="nothing"):
        torch.npu.NPUPluggableAllocator(library, "nothing", "take")
    with pytest.raises(TypeError, match="NPUPluggableAllocator"):
        torch.npu.MemPool(3)
    with pytest.raises(TypeError, match="MemPool"), torch.npu.use_mem_pool(3):
        pass
    with pytest.raises(TypeError, match="NPUPluggableAllocator"):
        torch.npu.change_current_allocator(3)
    with pytest.raises(RuntimeError), torch.npu.use_mem_pool(torch.npu.MemPool(), device=99):
        pass
