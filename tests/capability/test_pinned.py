"""Pinned host memory: its properties, and asynchronous copies."""

import gc

import gated
import pytest
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


SOURCES = {
    "another type": lambda x: x,
    "transposed": lambda x: x.t(),
    "a slice": lambda x: x[1:],
    "broadcast": lambda x: x[0],
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.int32, torch.float32], ids=str)
def test_copies_to_the_device_convert_in_their_turn(source, dtype):
    host = SOURCES[source]((torch.randn(4, 4) * 50).pin_memory())
    assert host.is_pinned()
    target = torch.zeros(3 if source == "a slice" else 4, 4, dtype=dtype, device="npu")
    with gated.Gate(torch.npu.current_stream()) as gate:
        target.copy_(host, non_blocking=True)  # a copy that waited would wait for ever
        gate.open()
    assert torch.equal(target.cpu(), host.expand(target.shape).to(dtype))


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.t(), lambda x: x[::2]])
@pytest.mark.parametrize("dtype", [torch.float16, torch.int32, torch.float32], ids=str)
def test_copies_to_pinned_memory_convert_in_their_turn(layout, dtype):
    source = torch.randn(4, 4) * 50
    on_npu = layout(source.npu())
    target = torch.zeros(on_npu.shape, dtype=dtype, pin_memory=True)
    with gated.Gate(torch.npu.current_stream()) as gate:
        target.copy_(on_npu, non_blocking=True)
        assert not target.any()
        gate.open()
        torch.npu.synchronize()
    assert torch.equal(target, layout(source).to(dtype))


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
