import memory_use
import pytest
import torch


def test_statistics_follow_tensors():
    before = memory_use.settled()
    torch.npu.empty_cache()
    torch.npu.reset_peak_memory_stats()
    x = torch.empty(1 << 20, device="npu")
    assert torch.npu.memory_allocated() - before == 4 << 20
    del x
    assert torch.npu.memory_allocated() == before
    assert torch.npu.max_memory_allocated() - before == 4 << 20


def test_freed_blocks_are_reused():
    x = torch.empty(3 << 20, device="npu")
    address = x.data_ptr()
    del x
    assert torch.empty(3 << 20, device="npu").data_ptr() == address


def test_results_of_host_kernels_are_counted():
    before = memory_use.settled()
    x = torch.arange(1 << 20, device="npu", dtype=torch.float32)
    y = torch.flip(x, [0])
    assert torch.npu.memory_allocated() - before >= x.nbytes + y.nbytes


def test_empty_cache_releases_memory():
    x = torch.empty(64 << 20, device="npu")
    del x
    free_before, _ = torch.npu.mem_get_info()
    torch.npu.empty_cache()
    free_after, total = torch.npu.mem_get_info()
    assert free_before + (256 << 20) <= free_after <= total


def test_the_keys_of_the_statistics():
    torch.ones(1, device="npu")
    families = ["allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes"]  # fmt: skip
    counters = ("current", "peak", "allocated", "freed")
    expected = {
        f"{f}.{p}.{c}"
        for f in families
        for p in ("all", "small_pool", "large_pool")
        for c in counters
    }
    expected |= {
        f"{f}.{c}" for f in ("oversize_allocations", "oversize_segments") for c in counters
    }
    expected |= {"num_alloc_retries", "num_ooms", "max_split_size", "num_sync_all_streams"}
    expected |= {"num_device_alloc", "num_device_free", "num_oom_rejections"}
    assert set(torch.npu.memory_stats()) == expected
    assert len(expected) == 123


def test_the_snapshot_adds_up():
    keep = [torch.empty(n, device="npu") for n in (10, 1000, 300_000, 3_000_000)]
    stats = torch.npu.memory_stats()
    segments = torch.npu.memory_snapshot()
    assert sum(s["total_size"] for s in segments) == stats["reserved_bytes.all.current"]
    assert sum(s["allocated_size"] for s in segments) == stats["allocated_bytes.all.current"]
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == address
            address += block["size"]
        assert address == segment["address"] + segment["total_size"]
    blocks = {b["address"]: b for s in segments for b in s["blocks"]}
    assert all(blocks[t.data_ptr()]["state"] == "active_allocated" for t in keep)
    assert all(blocks[t.data_ptr()]["requested_size"] == t.nbytes for t in keep)


def test_the_summary():
    text = torch.npu.memory_summary()
    assert "PyTorch NPU memory summary, device ID 0" in text
    assert len({len(line) for line in text.splitlines()}) == 1
    assert "from small pool" not in torch.npu.memory_summary(abbreviated=True)


def test_the_fraction_limits_this_process():
    total = torch.npu.mem_get_info()[1]
    torch.npu.empty_cache()
    used = torch.npu.memory_reserved()
    limit = (used + (64 << 20)) / total
    torch.npu.set_per_process_memory_fraction(limit)
    try:
        assert torch.npu.get_per_process_memory_fraction() == limit
        with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
            torch.empty(128 << 20, dtype=torch.uint8, device="npu")
        torch.empty(32 << 20, dtype=torch.uint8, device="npu")
    finally:
        torch.npu.set_per_process_memory_fraction(1.0)
    with pytest.raises(ValueError, match="Allowed range"):
        torch.npu.set_per_process_memory_fraction(1.5)


def test_raw_allocations():
    before = memory_use.settled()
    address = torch.npu.caching_allocator_alloc(1000)
    assert torch.npu.memory_allocated() == before + 1024
    torch.npu.caching_allocator_delete(address)
    assert torch.npu.memory_allocated() == before


def test_peaks_include_released_memory():
    torch.npu.empty_cache()
    torch.npu.reset_peak_memory_stats()
    x = torch.empty(64 << 20, dtype=torch.uint8, device="npu")
    held = torch.npu.memory_reserved()
    del x
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() <= held - (64 << 20)
    assert torch.npu.max_memory_reserved() >= held
    torch.npu.reset_peak_memory_stats()
    assert torch.npu.max_memory_reserved() == torch.npu.memory_reserved()
