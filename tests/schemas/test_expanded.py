"""AI CPU kernels with tensors of more elements than memory has room for: a result or one error, never a crash."""

import ctypes
from collections import Counter
from pathlib import Path

import fresh
import pytest
import torch

from schemas.draw import on_ai_cpu
from schemas.expanded import outcomes
from schemas.search import table

FOUND, _ = table()
NAMES = sorted(on_ai_cpu() & set(FOUND))
# Kernels that would read 2**40 elements, for an hour or so, and need no memory for it.
_LONG = {
    "aten.linalg__powsum.default",
    "aten.nansum.default",
    "aten.nansum.out",
    "aten.norm.ScalarOpt_dim",
    "aten.vdot.default",
}


@pytest.mark.parametrize("size", [2**31, 2**40, 2**60])
def test_every_operator_ends_with_a_result_or_an_error(size, capsys):
    names = [name for name in NAMES if size != 2**40 or name not in _LONG]
    found = outcomes(names, size, seconds=120)
    wrong = {name: text for name, text in found.items() if text.startswith("the process")}
    with capsys.disabled():
        counts = Counter(text for text in found.values() if not text.startswith("the process"))
        print(f"\n{len(found)} AI CPU operators on {size} elements: {dict(counts)}")
    assert not wrong
    assert len(found) > len(NAMES) // 2


@pytest.mark.parametrize("size", [2**40, 2**60])
def test_median_of_expanded_memory(size):
    x = torch.ones(1, device="npu").expand(size)
    with pytest.raises(torch.OutOfMemoryError):
        x.median(0)


MEDIAN = """
import resource, torch
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
x = torch.ones(1, device="npu").expand(2**31)
try:
    x.median(0)
except torch.OutOfMemoryError as error:
    print("refused", "NPU out of memory" in str(error))
print((torch.ones(2, device="npu") + 1).tolist())
"""


def test_median_counts_against_the_devices_memory():
    assert fresh.output(MEDIAN, SOFTNPU_HBM=str(1 << 30)).split("\n") == [
        "refused True",
        "[2.0, 2.0]",
    ]


def test_what_needs_no_memory_is_not_refused():
    x = torch.ones(1, dtype=torch.float64, device="npu").expand(2**28)
    free, _ = torch.npu.mem_get_info()
    assert free < 2 * 2**60
    before = torch.npu.max_memory_allocated()
    torch.npu.reset_peak_memory_stats()
    assert x.dot(x).item() == 2**28
    assert x.take(torch.tensor([2**28 - 1], device="npu")).item() == 1
    assert x.index_select(0, torch.tensor([5, 2**27], device="npu")).tolist() == [1, 1]
    assert torch.npu.max_memory_allocated() < before + 2**20


# Calls of the kernels in the YAML's streaming_on_cpu.
STREAMING = {
    "dot": lambda x: x.dot(x),
    "gather": lambda x: x.gather(0, torch.tensor([3])),
    "index.Tensor": lambda x: x[torch.tensor([3])],
    "index_select": lambda x: x.index_select(0, torch.tensor([3])),
    "take": lambda x: x.take(torch.tensor([3])),
    "trace": lambda x: x[: 2**24].view(-1, 1).expand(-1, 2).trace(),
    "vdot": lambda x: x.vdot(x),
    "sum": lambda x: x.sum(),
    "prod": lambda x: x.prod(0),
    "amax": lambda x: x.amax(0),
    "argmin": lambda x: x.argmin(0),
    "std": lambda x: x.std(),
    "count_nonzero": lambda x: x.count_nonzero(),
    "equal": lambda x: torch.equal(x, x + 0) if x.numel() < 9 else torch.equal(x, x),
}


def _peak() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _growth(elements: int) -> int:
    ctypes.CDLL(None).malloc_trim(0)  # else memory of earlier tests, free and resident, may serve
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    torch.ones(elements)
    return _peak() - before


def test_the_peak_is_measured():
    """Of several sizes, since memory that the process has freed may serve one."""
    assert max(_growth(2**24 + 2**20 * i) for i in range(4)) > 2**25


@pytest.mark.parametrize("name", STREAMING)
def test_streaming_kernels_take_no_memory(name):
    """On the CPU: whether the process grows by less than a thirtieth of the elements' bytes."""
    x = torch.ones(1, dtype=torch.float64).expand(2**26)
    STREAMING[name](x[:8])
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _peak()
    STREAMING[name](x)
    grown = _peak() - before
    assert grown < x.numel() * x.itemsize // 30
