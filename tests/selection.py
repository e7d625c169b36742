"""Which of the collected tests run, and in which order: options of pytest that ./dev passes."""

import random
import zlib

# Folders with tests that run every operator with many arguments: cases of one kind.
SHARDED = (
    "tests/opinfo/",
    "tests/aclnn/",
    "tests/ascendc/shipped/test_checks.py",
    "tests/compile/test_graph_operators.py",
    "tests/compile/test_models.py",
    "tests/graph/test_node_cases.py",
    "tests/graph/test_onnxruntime_node_cases.py",
    "tests/modules/",
    "tests/scalars/",
)


def pytest_addoption(parser):
    parser.addoption(
        "--shard",
        default="1/1",
        help="which part of the operators' cases runs: 2/3 is the second third",
    )
    parser.addoption(
        "--whole", action="append", default=[], help="a file whose cases run whatever their part"
    )
    parser.addoption(
        "--operator", action="append", default=[], help="an operator whose OpInfo cases all run"
    )
    parser.addoption(
        "--fallback",
        choices=("npu", "cpu"),
        help="torch.npu.set_operator_fallback for the whole run",
    )
    parser.addoption("--shuffle", type=int, help="seed: the tests in random order")


def _is_of(item, operators):
    """Whether the test belongs to the OpInfo of one of ``operators``."""
    callspec = getattr(item, "callspec", None)
    info = callspec.params.get("op") if callspec else None
    return bool(operators & {getattr(info, "name", None), getattr(info, "aten_name", None)})


def pytest_collection_modifyitems(config, items):
    """Cases are assigned to parts by name: all parts together are all cases."""
    part, parts = (int(number) for number in config.getoption("--shard").split("/"))
    whole = tuple(config.getoption("--whole"))
    operators = set(config.getoption("--operator"))

    def runs(item):
        if not item.nodeid.startswith(SHARDED) or item.nodeid.startswith(whole):
            return True
        return zlib.crc32(item.nodeid.encode()) % parts == part % parts or _is_of(item, operators)

    left_out = [item for item in items if not runs(item)]
    if left_out:
        gone = set(left_out)
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in gone]
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)
