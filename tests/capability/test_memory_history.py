"""The allocator's history: its entries, their stacks, and PyTorch's viewer."""

import pickle

import fresh
import pytest
import torch
from torch.cuda import _memory_viz


@pytest.fixture
def recording():
    torch.npu.memory._record_memory_history(stacks="python")
    yield
    torch.npu.memory._record_memory_history(enabled=None)


def actions(snapshot, address):
    return [e["action"] for e in snapshot["device_traces"][0] if e.get("addr") == address]


def make_a_tensor():
    return torch.empty(12345, device="npu")


def test_the_life_of_a_tensor(recording):
    x = make_a_tensor()
    address = x.data_ptr()
    (block,) = (
        b
        for s in torch.npu.memory._snapshot()["segments"]
        for b in s["blocks"]
        if b["address"] == address
    )
    assert block["state"] == "active_allocated"
    assert any(f["name"] == "make_a_tensor" for f in block["frames"])
    del x
    snapshot = torch.npu.memory._snapshot()
    assert actions(snapshot, address)[-3:] == ["alloc", "free_requested", "free_completed"]
    entries = [e for e in snapshot["device_traces"][0] if e.get("addr") == address]
    assert [e["size"] for e in entries[-3:]] == [12345 * 4] * 3
    assert entries[-3]["time_us"] <= entries[-2]["time_us"] <= entries[-1]["time_us"]
    assert any(f["filename"] == __file__ and f["line"] > 0 for f in entries[-3]["frames"])
    assert any(f["name"] == "test_the_life_of_a_tensor" for f in entries[-2]["frames"])


def test_blocks_may_be_freed_during_a_snapshot():
    program = """
import gc, torch
torch.npu.memory._record_memory_history("state", context="state", stacks="python")

class Cycle:
    pass

for i in range(300):
    c = Cycle()
    c.self, c.tensor = c, torch.ones(1000 + i, device="npu")
gc.set_threshold(50)
for _ in range(5):
    torch.npu.memory._snapshot()
print("ok")
"""
    assert fresh.output(program, MALLOC_PERTURB_="165") == "ok"


def test_segments_are_in_the_history(recording):
    torch.npu.empty_cache()
    x = torch.empty(64 << 20, dtype=torch.uint8, device="npu")
    del x
    torch.npu.empty_cache()
    seen = [
        (e["action"], e["size"])
        for e in torch.npu.memory._snapshot()["device_traces"][0]
        if e["action"].startswith("segment") and e["size"] == 64 << 20
    ]
    assert seen == [("segment_alloc", 64 << 20), ("segment_free", 64 << 20)]


def test_entries_name_the_private_pool(recording):
    pool = torch.npu.MemPool()
    with torch.npu.use_mem_pool(pool):
        inside = make_a_tensor()
    outside = make_a_tensor()
    addresses = {inside.data_ptr(): tuple(pool.id), outside.data_ptr(): (0, 0)}
    assert tuple(pool.id) != (0, 0)
    del inside, outside
    seen = [
        e for e in torch.npu.memory._snapshot()["device_traces"][0] if e.get("addr") in addresses
    ]
    for address, expected in addresses.items():
        newest = [e for e in seen if e["addr"] == address][-3:]
        assert [e["action"] for e in newest] == ["alloc", "free_requested", "free_completed"]
        assert {tuple(e["pool_id"]) for e in newest} == {expected}


def test_running_out_of_memory_is_in_the_history(recording):
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(1 << 50, dtype=torch.uint8, device="npu")
    (entry,) = (e for e in torch.npu.memory._snapshot()["device_traces"][0] if e["action"] == "oom")
    assert entry["size"] == 1 << 50
    assert entry["device_free"] > 0


def test_the_list_keeps_the_newest():
    torch.npu.memory._record_memory_history(max_entries=5, stacks="python")
    try:
        for size in range(1, 21):
            torch.empty(size * 1000, dtype=torch.uint8, device="npu")
        trace = torch.npu.memory._snapshot()["device_traces"][0]
        assert len(trace) == 5
        assert [e["size"] for e in trace if e["action"] == "alloc"] == [20000]
    finally:
        torch.npu.memory._record_memory_history(enabled=None)


def test_nothing_is_recorded_when_it_is_off(recording):
    torch.npu.memory._record_memory_history(enabled=None)
    x = make_a_tensor()
    snapshot = torch.npu.memory._snapshot()
    assert snapshot["device_traces"][0] == []
    assert all(b["frames"] == [] for s in snapshot["segments"] for b in s["blocks"])
    assert x.numel() == 12345


def test_cpp_frames():
    torch.npu.memory._record_memory_history(stacks="all")
    try:
        x = make_a_tensor()
        frames = [
            f["name"]
            for s in torch.npu.memory._snapshot()["segments"]
            for b in s["blocks"]
            if b["address"] == x.data_ptr()
            for f in b["frames"]
        ]
        assert "make_a_tensor" in frames
        assert any("DeviceCache::allocate" in name for name in frames)
    finally:
        torch.npu.memory._record_memory_history(enabled=None)


@pytest.mark.parametrize(
    "arguments", [{"enabled": "yes"}, {"context": "some"}, {"stacks": "c++"}], ids=str
)
def test_unknown_arguments_are_named(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments.values())).replace("+", r"\+")):
        torch.npu.memory._record_memory_history(**arguments)


def test_pytorchs_viewer_reads_the_file(recording, tmp_path):
    x = make_a_tensor()
    torch.npu.memory._dump_snapshot(str(tmp_path / "memory.pickle"))
    snapshot = pickle.loads((tmp_path / "memory.pickle").read_bytes())
    assert _memory_viz.trace_plot(snapshot).lstrip().startswith("<!DOCTYPE html>")
    assert f":{x.nbytes / 1024:.1f}KiB]" in _memory_viz.trace(snapshot)
    assert "allocated" in _memory_viz.segsum(snapshot)
