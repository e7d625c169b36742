"""Runs of pytest and GoogleTest over the build."""

import os
from collections.abc import Iterable, Mapping, Sequence

from dev.paths import BUILD, PYTHON, ROOT
from dev.run import run

# Softnpu's tests of what its functions do, and those that bring it to its limits: each executable of the latter sets the
# process up its own way.
FUNCTIONS = ("softnpu_tests",)
LIMITS = (
    "softnpu_stress_tests",
    "softnpu_fuzz_tests",
    "softnpu_operator_fuzz_tests",
    "softnpu_fault_tests",
)
# Tests of the generators and of ./dev: no device, no build, and so no plug-in that torch loads.
NO_DEVICE = ("tests/tools", "tests/opgen", "tests/recipes", "codegen/tests")


def gtest(env: Mapping[str, str], programs: Iterable[str], folder: str = "build") -> None:
    """Softnpu's own tests."""
    for program in programs:
        executable = ROOT / folder / "softnpu" / "tests" / program
        run([executable, "--gtest_brief=1"], env=env, cwd=BUILD)


def pytest(env: Mapping[str, str], arguments: Sequence[str], jobs: int | None = None) -> None:
    """Tests in Python, on all cores unless ``jobs`` says how many processes; 0 is this one."""
    count = str((os.cpu_count() or 1) if jobs is None else jobs)
    # What takes long is shown: a run has its minutes.
    slowest = ["--durations", "10", "--durations-min", "10"]
    # Workers share the cores: each operator runs on one thread.
    run(
        [PYTHON, "-m", "pytest", "-q", "-n", count, "--dist", "worksteal", *slowest, *arguments],
        env={"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **env},
    )


def without_device(paths: Sequence[str] = NO_DEVICE) -> None:
    """The tests that need no device."""
    pytest({"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, paths, jobs=0)
