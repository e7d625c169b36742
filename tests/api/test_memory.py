"""torch.npu.memory: statistics, the raw allocator, limits, history and snapshots, environment variables."""

import gc
import pickle
import re

import fresh
import pytest
import torch
from torch.cuda import _memory_viz

import torch_npu

MiB = 1 << 20
MODULES = pytest.mark.parametrize("module", [torch.npu, torch.npu.memory], ids=["npu", "memory"])


def names(*of):
    return pytest.mark.api(*(f"torch.npu.{m}{name}" for name in of for m in ("", "memory.")))


@names(
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "max_memory_reserved",
    "memory_cached",
    "max_memory_cached",
    "empty_cache",
    "empty_virt_addr_cache",
)
@MODULES
def test_statistics(module):
    gc.collect()
    module.empty_cache()
    base = module.memory_allocated()
    x = torch.empty(30 * MiB, dtype=torch.uint8, device="npu")
    stats = module.memory_stats()
    assert len(stats) == 123
    assert list(stats) == sorted(stats)
    assert module.memory_allocated() == base + 30 * MiB == stats["allocated_bytes.all.current"]
    nested = module.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == base + 30 * MiB
    reserved = module.memory_reserved()
    assert reserved >= base + 30 * MiB
    assert module.memory_cached() == reserved
    del x
    assert module.memory_allocated() == base
    assert module.memory_reserved() == reserved
    assert module.max_memory_allocated() >= base + 30 * MiB
    assert module.max_memory_reserved() == module.max_memory_cached() >= reserved
    module.empty_cache()
    assert module.memory_reserved() <= reserved - 30 * MiB
    x = torch.empty(30 * MiB, dtype=torch.uint8, device="npu")
    del x
    module.empty_virt_addr_cache()
    assert module.memory_reserved() <= reserved - 30 * MiB


@names(
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_accumulated_memory_stats",
)
@MODULES
def test_resets(module):
    for reset in (
        module.reset_peak_memory_stats,
        module.reset_max_memory_allocated,
        module.reset_max_memory_cached,
    ):
        x = torch.empty(10 * MiB, dtype=torch.uint8, device="npu")
        del x
        assert module.max_memory_allocated() > module.memory_allocated()
        reset()
        assert module.max_memory_allocated() == module.memory_allocated()
        assert module.max_memory_reserved() == module.memory_reserved()
    assert module.memory_stats()["allocation.all.allocated"] > 0
    module.reset_accumulated_memory_stats()
    assert module.memory_stats()["allocation.all.allocated"] == 0


@names("memory_summary")
@MODULES
def test_summary(module):
    x = torch.empty(3 * MiB, dtype=torch.uint8, device="npu")
    text = module.memory_summary()
    assert "device ID 0" in text
    assert "from small pool" in text
    assert "from small pool" not in module.memory_summary(abbreviated=True)
    del x


@names("caching_allocator_alloc", "caching_allocator_delete")
@MODULES
def test_raw_allocations(module):
    base = module.memory_allocated()
    address = module.caching_allocator_alloc(4096)
    assert module.memory_allocated() == base + 4096
    module.caching_allocator_delete(address)
    assert module.memory_allocated() == base
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        module.caching_allocator_delete(address)
    with pytest.raises(TypeError, match="stream"):
        module.caching_allocator_alloc(10, stream=3)
    with pytest.raises(TypeError, match="size"):
        module.caching_allocator_alloc("10")
    with pytest.raises(RuntimeError):
        module.caching_allocator_alloc(10, device=99)
    stream = torch.npu.Stream()
    module.caching_allocator_delete(module.caching_allocator_alloc(10, stream=stream))


@names("set_per_process_memory_fraction", "get_per_process_memory_fraction")
@MODULES
def test_fraction(module):
    assert module.get_per_process_memory_fraction() == 1.0
    module.empty_cache()
    total = torch.npu.mem_get_info()[1]
    module.set_per_process_memory_fraction((module.memory_reserved() + 20 * MiB) / total)
    try:
        assert 0 < module.get_per_process_memory_fraction() < 1
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(100 * MiB, dtype=torch.uint8, device="npu")
    finally:
        module.set_per_process_memory_fraction(1.0)
    for bad, error in ((1, TypeError), (1.5, ValueError)):
        with pytest.raises(error):
            module.set_per_process_memory_fraction(bad)


@names(
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "host_empty_cache",
    "reset_peak_host_memory_stats",
    "reset_accumulated_host_memory_stats",
)
@MODULES
def test_host_memory(module):
    module.host_empty_cache()
    module.reset_accumulated_host_memory_stats()
    x = torch.empty(MiB, dtype=torch.uint8).pin_memory()
    stats = module.host_memory_stats()
    assert stats["allocated_bytes.current"] >= MiB
    assert stats["num_host_alloc"] >= 1
    assert module.host_memory_stats_as_nested_dict()["allocated_bytes"]["current"] >= MiB
    del x
    module.host_empty_cache()
    assert (
        module.host_memory_stats()["allocated_bytes.current"]
        <= stats["allocated_bytes.current"] - MiB
    )
    module.reset_peak_host_memory_stats()
    after = module.host_memory_stats()
    assert after["allocated_bytes.peak"] == after["allocated_bytes.current"]
    module.reset_accumulated_host_memory_stats()
    assert module.host_memory_stats()["num_host_alloc"] == 0


@pytest.fixture
def recording():
    torch.npu.memory._record_memory_history(stacks="python")
    yield
    torch.npu.memory._record_memory_history(enabled=None)


@pytest.mark.api(
    "torch.npu.memory._record_memory_history",
    "torch.npu.memory._snapshot",
    "torch.npu.memory._dump_snapshot",
    "torch.npu.memory._save_segment_usage",
    "torch.npu.memory._save_memory_usage",
)
def test_pytorchs_viewer_opens_the_dump(recording, tmp_path, monkeypatch):
    gc.collect()
    torch.npu.empty_cache()  # so that the tensor's segment is new
    x = torch.empty(7 * MiB + 512, dtype=torch.uint8, device="npu")
    path = tmp_path / "dump.pickle"
    torch.npu.memory._dump_snapshot(str(path))
    snapshot = pickle.loads(path.read_bytes())
    (block,) = (
        b for s in snapshot["segments"] for b in s["blocks"] if b["address"] == x.data_ptr()
    )
    assert block["requested_size"] == x.nbytes
    history = [(e["action"], e["size"]) for e in snapshot["device_traces"][0]]
    assert ("alloc", x.nbytes) in history
    trace = _memory_viz.trace_plot(snapshot)
    segments = _memory_viz.segment_plot(snapshot)
    assert "html" in trace
    assert "html" in segments
    # Other tests' tensors may live in other segments.
    own = [s for s in snapshot["segments"] if block in s["blocks"]]
    text = _memory_viz.segsum(snapshot | {"segments": own})
    assert "MiB" in text
    assert "alloc" in _memory_viz.trace(snapshot)
    assert "7.0MiB" in text
    # The flame graphs are drawn by a script that PyTorch downloads; its input has the sizes.
    monkeypatch.setattr(_memory_viz, "format_flamegraph", lambda lines: lines)
    for save, name in (
        (torch.npu.memory._save_segment_usage, "segments"),
        (torch.npu.memory._save_memory_usage, "memory"),
    ):
        save(str(tmp_path / name), snapshot)
        lines = (tmp_path / name).read_text().splitlines()
        total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        assert total == sum(s["total_size"] for s in snapshot["segments"])


def test_a_dump_when_memory_runs_out(tmp_path):
    program = """
import torch
x = torch.empty(100 << 20, dtype=torch.uint8, device="npu")
try:
    torch.empty(900 << 20, dtype=torch.uint8, device="npu")
except torch.OutOfMemoryError:
    print("out of memory")
"""
    variables = {"OOM_SNAPSHOT_ENABLE": "1", "OOM_SNAPSHOT_PATH": str(tmp_path)}
    assert fresh.output(program, SOFTNPU_HBM="512M", **variables) == "out of memory"
    (path,) = tmp_path.glob("oom_snapshot_*.pickle")
    snapshot = pickle.loads(path.read_bytes())
    sizes = [e["size"] for e in snapshot["device_traces"][0] if e["action"] == "alloc"]
    assert 100 << 20 in sizes


def test_no_caching():
    program = """
import torch
x = torch.ones(1000, device="npu")
before = torch.npu.memory_reserved()
del x
print(before, torch.npu.memory_reserved())
"""
    assert fresh.output(program, PYTORCH_NO_NPU_MEMORY_CACHING="1") == "4096 0"


def test_both_variables_are_an_error():
    program = 'import torch; torch.ones(1, device="npu")'
    result = fresh.run(
        program,
        PYTORCH_NPU_ALLOC_CONF="max_split_size_mb:64",
        PYTORCH_ALLOC_CONF="max_split_size_mb:64",
    )
    assert result.returncode != 0
    assert "both set" in result.stderr


KEYS = [
    "max_split_size_mb:64",
    "garbage_collection_threshold:0.8",
    "expandable_segments:True",
    "expandable_segments:True,segment_size_mb:20",
    "large_segment_size_mb:40",
    "roundup_power2_divisions:4",
    "max_non_split_rounding_mb:64",
    "pinned_use_background_threads:True",
]
IGNORED = [
    "base_addr_aligned_kb:16",
    "page_size:1g",
    "multi_stream_lazy_reclaim:True",
    "pin_memory_expandable_segments:True",
    "pinned_mem_register:True",
]


def test_every_key_is_honoured_or_warned_about_once():
    program = """
import sys, torch
for settings in sys.argv[1:]:
    for _ in range(2):
        torch.npu.memory._set_allocator_settings(settings)
    torch.ones(10, device="npu")
"""
    result = fresh.run(program, *KEYS, *IGNORED)
    assert result.returncode == 0, result.stderr
    warned = re.findall(r"allocator setting (\w+) has no effect", result.stderr)
    assert warned == [key.split(":")[0] for key in IGNORED]


def test_multi_stream_memory_reuse_warns():
    program = 'import torch; torch.ones(1, device="npu")'
    for value, warns in (("1", False), ("0", True)):
        result = fresh.run(program, MULTI_STREAM_MEMORY_REUSE=value)
        text = "MULTI_STREAM_MEMORY_REUSE=0 is not understood: it takes 1"
        assert (text in result.stderr) == warns
        assert result.returncode == 0


@names("mem_get_info")
@MODULES
def test_free_and_total_bytes(module):
    module.empty_cache()
    free, total = module.mem_get_info()
    x = torch.empty(64 * MiB, dtype=torch.uint8, device="npu")
    assert module.mem_get_info(0) == (free - 64 * MiB, total)
    assert torch.npu.get_device_properties(0).total_memory == total
    del x
    with pytest.raises((RuntimeError, AssertionError)):
        module.mem_get_info(99)


@pytest.mark.api(
    "torch.npu.device_of.__enter__", "torch.npu.device.__enter__", "torch.npu.device.__exit__"
)
def test_the_device_of_a_tensor():
    program = """
import torch
x = torch.ones(1, device="npu:1")
current = torch.npu.current_device
with torch.npu.device_of(x):
    print(current())
    with torch.npu.device_of(torch.ones(1)):
        print(current())
    with torch.npu.device("npu:0"):
        print(current())
print(current())
"""
    assert fresh.output(program, SOFTNPU_DEVICE_COUNT="2").split() == ["1", "1", "0", "0"]


@pytest.mark.api("torch.npu.ipc_collect")
def test_shared_memory_is_collected():
    shared = torch.ones(1000, device="npu")
    ticket = torch_npu._C.share_storage(shared.untyped_storage())
    base = torch.npu.memory_allocated()
    del shared
    torch_npu._C.release_shared(ticket[4].decode(), ticket[5])
    torch.npu.ipc_collect()
    assert torch.npu.memory_allocated() == base - 4096
