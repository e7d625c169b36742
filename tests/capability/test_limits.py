"""A device in a process whose resources are limited (control groups: softnpu/tests/limits_test.cpp)."""

import fresh
import pytest

# As after `ulimit -v`: limits the address space before torch is imported.
PROGRAM = """
import resource
limit = {limit} << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
import torch
free, total = torch.npu.mem_get_info()
x = torch.ones(1 << 20, device="npu")
assert (x + x).sum().item() == 2 << 20
try:
    torch.empty(total + (1 << 30), dtype=torch.uint8, device="npu")
except torch.OutOfMemoryError:
    print(total)
"""


@pytest.mark.parametrize("limit", [8, 32])
def test_memory_follows_the_limit_of_addresses(limit):
    total = int(fresh.output(PROGRAM.format(limit=limit), SOFTNPU_HBM="", OMP_NUM_THREADS="1"))
    assert 1 << 30 < total <= limit << 29


def test_a_requested_capacity_is_available():
    program = PROGRAM.format(limit=32)
    assert int(fresh.output(program, SOFTNPU_HBM="2G", OMP_NUM_THREADS="1")) == 2 << 30


def test_a_smaller_reservation_is_logged():
    message = fresh.output(
        PROGRAM.format(limit=32),
        SOFTNPU_HBM="2G",
        OMP_NUM_THREADS="1",
        ASCEND_SLOG_PRINT_TO_STDOUT="1",
        ASCEND_GLOBAL_LOG_LEVEL="2",
    )
    assert "[WARNING]" in message
    assert "bytes of addresses for mappings instead of 68719476736" in message


def test_doctor_reports_a_smaller_reservation():
    program = (
        "import resource; limit = 32 << 30; resource.setrlimit(resource.RLIMIT_AS, (limit, limit));"
        "from torch_npu.utils.doctor import report; print(dict(report()[0])['addresses'])"
    )
    message = fresh.output(program, SOFTNPU_HBM="2G", OMP_NUM_THREADS="1")
    assert message.endswith("the process may map no more (ulimit -v)")
