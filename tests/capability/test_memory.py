import torch


def test_statistics_follow_tensors():
    torch.npu.empty_cache()
    before = torch.npu.memory_allocated()
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
    torch.npu.synchronize()
    before = torch.npu.memory_allocated()
    x = torch.arange(1 << 20, device="npu", dtype=torch.float32)
    y = torch.flip(x, [0])
    assert torch.npu.memory_allocated() - before >= x.nbytes + y.nbytes


def test_empty_cache_gives_memory_back():
    x = torch.empty(64 << 20, device="npu")
    del x
    free_before, _ = torch.npu.mem_get_info()
    torch.npu.empty_cache()
    free_after, total = torch.npu.mem_get_info()
    assert free_before + (256 << 20) <= free_after <= total
