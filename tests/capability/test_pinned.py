"""Pinned host memory: its properties, and asynchronous copies."""

import gc

import torch


def test_which_tensors_are_pinned():
    x = torch.randn(1000).pin_memory()
    assert x.is_pinned()
    assert x[10:20].is_pinned()
    assert torch.empty(4, pin_memory=True).is_pinned()
    assert not torch.randn(3).is_pinned()
    assert not torch.randn(3, device="npu").is_pinned()


def test_copies_keep_their_order_and_their_memory():
    x = torch.randn(1 << 18)
    stream = torch.npu.Stream()
    for _ in range(20):
        pinned = x.pin_memory()
        with torch.npu.stream(stream):
            on_npu = pinned.to("npu", non_blocking=True)
            doubled = on_npu * 2
            back = torch.empty(1 << 18, pin_memory=True)
            back.copy_(doubled, non_blocking=True)
        del pinned  # the copy may still run: its memory must not be reused before
        torch.empty(1 << 18, pin_memory=True).fill_(-1)
        stream.synchronize()
        assert torch.equal(back, x * 2)


def test_freed_memory_is_reused_and_released():
    torch.npu.host_empty_cache()
    first = torch.empty(1 << 20, pin_memory=True)
    address = first.data_ptr()
    del first
    gc.collect()
    again = torch.empty(1 << 20, pin_memory=True)
    assert again.data_ptr() == address
    stats = torch.npu.host_memory_stats()
    assert stats["active_bytes.current"] >= 4 << 20
    del again
    torch.npu.host_empty_cache()
    assert (
        torch.npu.host_memory_stats()["allocated_bytes.current"] < stats["allocated_bytes.current"]
    )


def test_data_loader():
    data = torch.utils.data.TensorDataset(torch.arange(64.0).view(16, 4))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=1, pin_memory=True)
    total = 0.0
    for (batch,) in loader:
        assert batch.is_pinned()
        total += batch.to("npu", non_blocking=True).sum().item()
    assert total == sum(range(64))
