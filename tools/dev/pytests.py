"""Runs of pytest and GoogleTest over the build."""

import os
from collections.abc import Iterable, Mapping, Sequence

from dev.paths import BUILD, PYTHON, ROOT
from dev.run import run

# Softnpu's functional tests, and its stress tests: each executable of the latter sets up its process differently.
FUNCTIONS = ("softnpu_tests",)
# Those of kernels in Ascend C; not under sanitizers, where the cells of checked mode take minutes.
KERNELS = ("softnpu_kernel_tests",)
LIMITS = (
    "softnpu_stress_tests",
    "softnpu_fuzz_tests",
    "softnpu_graph_tests",
    "softnpu_operator_fuzz_tests",
    "softnpu_fault_tests",
    "softnpu_sharing_tests",
    "softnpu_ccl_tests",
)
# Tests of the generators and of ./dev: they need no device and no build, so torch must not load the plug-in.
NO_DEVICE = ("tests/tools", "tests/opgen", "tests/recipes", "codegen/tests")


def gtest(env: Mapping[str, str], programs: Iterable[str], folder: str = "build") -> None:
    """Runs softnpu's own tests."""
    for program in programs:
        executable = ROOT / folder / "softnpu" / "tests" / program
        run([executable, "--gtest_brief=1"], env=env, cwd=BUILD)


def pytest(env: Mapping[str, str], arguments: Sequence[str], jobs: int | None = None) -> None:
    """Runs Python tests, on all cores unless ``jobs`` sets the number of processes; 0 is this process."""
    count = str((os.cpu_count() or 1) if jobs is None else jobs)
    # The output names slow tests: the time of a run is limited.
    slowest = ["--durations", "10", "--durations-min", "10"]
    # Pytest's workers share the cores: each operator runs on one thread.
    run(
        [PYTHON, "-m", "pytest", "-q", "-n", count, "--dist", "worksteal", *slowest, *arguments],
        env={"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **env},
    )


def without_device(paths: Sequence[str] = NO_DEVICE) -> None:
    """Runs the tests that need no device."""
    pytest({"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, paths, jobs=0)
