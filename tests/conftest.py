import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from selection import pytest_addoption, pytest_collection_modifyitems  # noqa: F401  (hooks)

# Tests of generators and tools.
WITHOUT_DEVICE = ("tests/tools/", "tests/opgen/", "tests/recipes/")


@pytest.fixture(autouse=True)
def operator_fallback(request):
    """The run's fallback; tests of the fallback itself may change it temporarily."""
    if chosen := request.config.getoption("--fallback"):
        import torch

        torch.npu.set_operator_fallback(chosen)


@contextmanager
def _fallback(target):
    import torch

    before = torch.npu.get_operator_fallback()
    torch.npu.set_operator_fallback(target)
    yield
    torch.npu.set_operator_fallback(before)


@pytest.fixture
def aicpu_route(operator_fallback):
    """For tests of the AI CPU route itself: sets it regardless of the run's choice."""
    with _fallback("npu"):
        yield


@pytest.fixture
def host_copies(operator_fallback):
    """For tests of kernels on copies in host memory: sets them regardless of the run's choice."""
    with _fallback("cpu"):
        yield


@pytest.fixture
def fixed_rule():
    """Implementations are chosen by a fixed rule, not by the time that they take on this machine."""
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    yield
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.use_deterministic_algorithms(False)


@pytest.fixture(autouse=True)
def device_stays_usable(request):
    """After every test the device must still work."""
    yield
    if request.node.nodeid.startswith(WITHOUT_DEVICE):
        return
    import torch

    assert (torch.ones(2, device="npu") + 1).tolist() == [2.0, 2.0]


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.stats
    counts = {
        "passed": _opinfo(reports.get("passed", [])),
        "failed": _opinfo(reports.get("failed", [])),
        "unsupported": _opinfo(reports.get("skipped", [])),
    }
    if sum(counts.values()):
        line = ", ".join(f"{count} {name}" for name, count in counts.items())
        terminalreporter.write_line(f"OpInfos with float32 on npu: {line}")


def _opinfo(reports):
    return sum("tests/opinfo/test_float32" in report.nodeid for report in reports)
