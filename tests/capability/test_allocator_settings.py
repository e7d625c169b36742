"""PYTORCH_NPU_ALLOC_CONF: the same random program under every setting, and the effect of each setting."""

import fresh
import pytest
import torch

# Tensors of many sizes are created and freed on two streams. Live tensors keep their bytes and do not overlap, the
# snapshot and the statistics agree with them, and in the end all memory is returned.
LIFE = """
import random, torch

def check(live):
    stats = torch.npu.memory_stats()
    segments = torch.npu.memory_snapshot()
    assert sum(s["total_size"] for s in segments) == stats["reserved_bytes.all.current"]
    assert sum(s["allocated_size"] for s in segments) == stats["allocated_bytes.all.current"]
    assert sum(s["active_size"] for s in segments) == stats["active_bytes.all.current"]
    for s in segments:
        assert s["address"] + s["total_size"] == s["blocks"][-1]["address"] + s["blocks"][-1]["size"]
        assert s["total_size"] == sum(b["size"] for b in s["blocks"])
    places = sorted((t.data_ptr(), t.data_ptr() + t.nbytes) for t, _ in live)
    assert all(a[1] <= b[0] for a, b in zip(places, places[1:]))
    assert all(t.eq(value).all() for t, value in live)

draw = random.Random(5)
streams = [torch.npu.default_stream(), torch.npu.Stream()]
ones = torch.ones(300, 300, device="npu")
live, readers = [], []
for step in range(400):
    if live and draw.random() < 0.48:
        tensor, value = live.pop(draw.randrange(len(live)))
        if draw.random() < 0.3:
            # The other stream is busy, and reads the tensor after that: until then nobody may have its bytes.
            with torch.npu.stream(streams[1]):
                for _ in range(3):
                    torch.mm(ones, ones)
                readers.append((tensor.clone(), value))
            tensor.record_stream(streams[1])
        del tensor
    else:
        size = int(10 ** draw.uniform(0, 7.3))
        value = step % 251
        with torch.npu.stream(draw.choice(streams)):
            live.append((torch.full((size,), value, dtype=torch.uint8, device="npu"), value))
    if step % 40 == 0:
        torch.npu.synchronize()
        check(live)
        assert all(t.eq(value).all() for t, value in readers)
        readers.clear()
    if step % 150 == 149:
        torch.npu.empty_cache()
        check(live)
torch.npu.synchronize()
check(live)
live.clear()
readers.clear()
del ones
torch.npu.empty_cache()
print(torch.npu.memory_reserved(), torch.npu.memory_stats()["segment.all.current"], torch.npu.memory_allocated())
"""

SETTINGS = [
    "",
    "expandable_segments:True",
    "expandable_segments:True,segment_size_mb:4",
    "max_split_size_mb:21",
    "expandable_segments:True,max_split_size_mb:21",
    "expandable_segments:True,large_segment_size_mb:25",
    "garbage_collection_threshold:0.01",
    "roundup_power2_divisions:4",
    "large_segment_size_mb:40,roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
]


@pytest.mark.parametrize("protect", ["0", "1"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_random_life(settings, protect):
    program = fresh.output(LIFE, PYTORCH_NPU_ALLOC_CONF=settings, SOFTNPU_PROTECT=protect)
    assert program == "0 0 0"


@pytest.mark.parametrize("settings", ["", "expandable_segments:False"])
def test_a_random_life_that_saves_memory(settings):
    conf = {"NPU_MEMORY_OPTIMIZATION": "1", "PYTORCH_NPU_ALLOC_CONF": settings}
    assert fresh.output(LIFE, **conf) == "0 0 0"


def test_a_random_life_without_cache():
    assert fresh.output(LIFE, PYTORCH_NO_NPU_MEMORY_CACHING="1") == "0 0 0"


def test_without_cache_no_block_is_kept():
    program = """
import torch
x = torch.ones(1000, device="npu")
assert torch.npu.memory_reserved() == torch.npu.memory_allocated() == 4096
del x
print(torch.npu.memory_reserved())
"""
    assert fresh.output(program, PYTORCH_NO_NPU_MEMORY_CACHING="1") == "0"


# A growing batch: every tensor is larger than the memory that the preceding one freed.
GROWTH = """
import torch
peak = 0
for size in range(40, 200, 10):
    x = torch.empty(size << 20, dtype=torch.uint8, device="npu")
    x.fill_(1)
    del x
print(torch.npu.max_memory_reserved() >> 20, torch.npu.memory_stats()["segment.all.allocated"])
"""


def test_expandable_segments_grow_in_place():
    plain = fresh.output(GROWTH)
    expandable = fresh.output(GROWTH, PYTORCH_NPU_ALLOC_CONF="expandable_segments:True")
    assert int(plain.split()[0]) >= 500
    assert expandable == "200 1"


def test_an_expandable_segment_releases_its_free_ranges():
    program = """
import torch
blocks = [torch.full((20 << 20,), i, dtype=torch.uint8, device="npu") for i in range(6)]
del blocks[1], blocks[2]
before = torch.npu.memory_reserved()
free = torch.npu.mem_get_info()[0]
torch.npu.empty_cache()
assert torch.npu.memory_reserved() == before - (40 << 20)
assert torch.npu.mem_get_info()[0] == free + (40 << 20)
assert [int(b[0]) for b in blocks] == [0, 2, 4, 5] and all(b.eq(b[0]).all() for b in blocks)
assert len([s for s in torch.npu.memory_snapshot() if s["is_expandable"]]) == 3
again = torch.full((40 << 20,), 9, dtype=torch.uint8, device="npu")
assert again.eq(9).all() and [int(b[0]) for b in blocks] == [0, 2, 4, 5]
print(torch.npu.memory_allocated() >> 20)
"""
    conf = "expandable_segments:True"
    assert fresh.output(program, PYTORCH_NPU_ALLOC_CONF=conf) == "120"


def test_expandable_segments_run_out_of_memory_like_others():
    program = """
import pytest, torch
keep = torch.ones(100 << 20, dtype=torch.uint8, device="npu")
with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory. Tried to allocate 200.00 MiB"):
    torch.ones(200 << 20, dtype=torch.uint8, device="npu")
assert torch.npu.memory_reserved() == 100 << 20 and keep.eq(1).all()
print(torch.ones(90 << 20, dtype=torch.uint8, device="npu").numel() >> 20)
"""
    result = fresh.output(
        program, PYTORCH_NPU_ALLOC_CONF="expandable_segments:True", SOFTNPU_HBM="256M"
    )
    assert result == "90"


def test_expandable_segments_for_many_streams():
    program = """
import torch
tensors = []
for i in range(33):
    with torch.npu.stream(torch.npu.Stream()):
        tensors.append((torch.full((10,), i, device="npu"), torch.full((1 << 20,), i, device="npu")))
assert all(t.eq(i).all() for i, pair in enumerate(tensors) for t in pair)
print(len(torch.npu.memory_snapshot()) > 60)
"""
    assert fresh.output(program, PYTORCH_NPU_ALLOC_CONF="expandable_segments:True") == "True"


def test_a_large_block_is_not_merged_with_the_gap_after_it():
    program = """
import torch
x = torch.empty(60 << 20, dtype=torch.uint8, device="npu")
del x
y = torch.full((45 << 20,), 3, dtype=torch.uint8, device="npu")
segments = torch.npu.memory_snapshot()
assert sum(s["total_size"] for s in segments) == torch.npu.memory_reserved()
print(y.eq(3).all().item(), len(segments[0]["blocks"]) > 1)
"""
    conf = "expandable_segments:True,max_split_size_mb:50"
    assert fresh.output(program, PYTORCH_NPU_ALLOC_CONF=conf) == "True True"


def test_without_cache_a_thread_that_never_used_npu_releases_memory():
    program = """
import threading, torch
box = [torch.ones(1000, device="npu")]
thread = threading.Thread(target=box.clear)
thread.start()
thread.join()
print(torch.npu.memory_reserved(), torch.npu.memory_allocated())
"""
    assert fresh.output(program, PYTORCH_NO_NPU_MEMORY_CACHING="1") == "0 0"


def test_oversize_blocks_are_not_split():
    program = """
import torch
big = torch.empty(60 << 20, dtype=torch.uint8, device="npu")
address = big.data_ptr()
assert torch.npu.memory_stats()["oversize_allocations.current"] == 1
del big
small = torch.empty(30 << 20, dtype=torch.uint8, device="npu")
assert small.data_ptr() != address
again = torch.empty(59 << 20, dtype=torch.uint8, device="npu")
assert again.data_ptr() == address
print(torch.npu.memory_stats()["max_split_size"] >> 20)
"""
    assert fresh.output(program, PYTORCH_NPU_ALLOC_CONF="max_split_size_mb:50") == "50"


def test_garbage_is_collected_oldest_first():
    program = """
import torch
sizes = [40, 50, 60]
blocks = [torch.empty(s << 20, dtype=torch.uint8, device="npu") for s in sizes]
while blocks:
    del blocks[0]
torch.empty(70 << 20, dtype=torch.uint8, device="npu")
print(sorted(s["total_size"] >> 20 for s in torch.npu.memory_snapshot()))
"""
    conf = {"PYTORCH_NPU_ALLOC_CONF": "garbage_collection_threshold:0.5", "SOFTNPU_HBM": "256M"}
    assert fresh.output(program, **conf) == "[50, 60, 70]"


def test_sizes_are_rounded_to_parts_of_a_power_of_two():
    program = """
import torch
x = torch.empty(1200 << 10, dtype=torch.uint8, device="npu")
print(torch.npu.memory_allocated() >> 10)
"""
    conf = "roundup_power2_divisions:4"
    assert fresh.output(program, PYTORCH_NPU_ALLOC_CONF=conf) == "1280"


def test_pytorch_alloc_conf_is_read_too():
    program = "import torch; torch.ones(1, device='npu'); print(torch.npu.memory_snapshot()[0]['is_expandable'])"
    assert fresh.output(program, PYTORCH_ALLOC_CONF="expandable_segments:True") == "True"


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"PYTORCH_NPU_ALLOC_CONF": "no_such_key:1"}, "no_such_key"),
        ({"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:perhaps"}, "perhaps"),
        ({"PYTORCH_NPU_ALLOC_CONF": "segment_size_mb:3"}, "segment_size_mb:3 is not understood"),
        ({"PYTORCH_NPU_ALLOC_CONF": "segment_size_mb:"}, "segment_size_mb takes a number of MiB"),
        ({"PYTORCH_NPU_ALLOC_CONF": "max_split_size_mb"}, "'max_split_size_mb' are not understood"),
        ({"PYTORCH_NPU_ALLOC_CONF": "max_split_size_mb:much"}, "'max_split_size_mb:much' are not understood"),
        ({"PYTORCH_NPU_ALLOC_CONF": "max_split_size_mb:99999999999999999999"}, "are not understood"),
        (
            {"PYTORCH_NPU_ALLOC_CONF": "max_split_size_mb:100", "PYTORCH_ALLOC_CONF": "max_split_size_mb:100"},
            "both set",
        ),
    ],
)  # fmt: skip
def test_a_malformed_setting_is_named(variables, sentence):
    program = """
import torch
for _ in range(2):  # and again: nothing half-read stays behind
    try:
        torch.ones(1, device="npu")
    except (ValueError, RuntimeError) as error:
        print(str(error).splitlines()[0])
"""
    lines = fresh.output(program, **variables).splitlines()
    assert len(lines) == 2
    assert all(sentence in line for line in lines)


def test_settings_can_be_changed_while_running():
    program = """
import torch
torch.ones(1, device="npu")
torch.npu.memory._set_allocator_settings("expandable_segments:True")
x = torch.ones(10 << 20, device="npu")
print(sorted(s["is_expandable"] for s in torch.npu.memory_snapshot()))
"""
    assert fresh.output(program) == "[False, True]"
    for wrong in (
        "garbage_collection_threshold:a",
        "roundup_power2_divisions:[256:",
        "max_split_size_mb:",
    ):
        with pytest.raises(ValueError, match="are not understood: they are key:value pairs"):
            torch.npu.memory._set_allocator_settings(wrong)
