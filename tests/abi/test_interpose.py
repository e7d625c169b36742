"""All memory, copies and events of npu use libascendcl: an interposed library sees them."""

import json
from collections import Counter
from pathlib import Path

import fresh

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

PROGRAM = """
import gc, json, sys
sys.path.insert(0, "examples")
import torch, digits
import image_classification
from photographs import photographs

pipeline = image_classification.pipeline()
pipeline.batch_classify(photographs())
assert digits.run(epochs=2) > 0.8
event = torch.npu.Event()
event.record()
event.synchronize()
x = torch.arange(12345, dtype=torch.float64).npu()
y = x.flip(0)
z = (y + 1).cpu()
live = [t for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.is_npu]
ranges = [[t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()] for t in live]
stats = torch.npu.memory_stats()
print(json.dumps({"ranges": ranges, "mallocs": stats["num_device_alloc"], "frees": stats["num_device_free"]}))
"""
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def test_the_demos_work_passes_through_the_abi(tmp_path):
    log = tmp_path / "calls"
    # Links, because LD_PRELOAD splits paths at spaces, and the checkout's path may contain one.
    preload = []
    for name in ("tests/libacl_interpose.so", "python/torch_npu/lib/cann/libascendcl.so"):
        preload.append(tmp_path / Path(name).name)
        preload[-1].symlink_to(BUILD / name)
    printed = fresh.output(
        PROGRAM,
        cwd=str(ROOT),
        timeout=300,
        LD_PRELOAD=":".join(map(str, preload)),
        ACL_INTERPOSE_LOG=str(log),
    )
    seen = json.loads(printed.splitlines()[-1])
    calls = [(name, int(a), int(b)) for name, a, b in map(str.split, log.read_text().splitlines())]
    counts = Counter(name for name, _, _ in calls)

    # Each segment that the caching allocator counts was a call; each live tensor is in one of them.
    assert counts["malloc"] == seen["mallocs"]
    assert counts["free"] == seen["frees"]
    segments = [(a, a + size) for name, a, size in calls if name == "malloc"]
    assert len(seen["ranges"]) >= 296  # includes the network's parameters and buffers
    for address, nbytes in seen["ranges"]:
        assert nbytes == 0 or any(
            begin <= address and address + nbytes <= end for begin, end in segments
        )

    # The last tensor was copied once in each direction; the parameters were copied to the device; one event was
    # recorded.
    copies = Counter((kind, nbytes) for name, kind, nbytes in calls if name == "copy")
    assert copies[(HOST_TO_DEVICE, 12345 * 8)] == 1
    assert copies[(DEVICE_TO_HOST, 12345 * 8)] == 1
    assert sum(n for (kind, _), n in copies.items() if kind == HOST_TO_DEVICE) > 296
    assert counts["record"] == 1
