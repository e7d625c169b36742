import sys
import zlib
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))


# Every operator with many arguments: cases of one kind.
SWEEPS = ("tests/opinfo/", "tests/aclnn/", "tests/modules/")


def pytest_addoption(parser):
    parser.addoption(
        "--sweeps",
        default="1/1",
        help="which part of the sweeps' cases runs: 2/3 is the second third",
    )


def pytest_collection_modifyitems(config, items):
    """Cases are dealt out by their names: all parts together are all cases."""
    part, parts = (int(number) for number in config.getoption("--sweeps").split("/"))
    left_out = [
        item
        for item in items
        if item.nodeid.startswith(SWEEPS) and zlib.crc32(item.nodeid.encode()) % parts != part - 1
    ]
    if left_out:
        gone = set(left_out)
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in gone]


@pytest.fixture(autouse=True)
def device_stays_usable():
    """Whatever a test did, the device works behind it."""
    yield
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
        terminalreporter.write_line(f"OpInfos with float32 on npu, all samples: {line}")


def _opinfo(reports):
    return sum("tests/opinfo/test_float32" in report.nodeid for report in reports)
