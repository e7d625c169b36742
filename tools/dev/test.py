"""`./dev test`: the default tier, in minutes; `--all` adds what takes longer."""

import os
from collections.abc import Mapping

from dev.build import build
from dev.opinfo import opinfo
from dev.paths import BUILD, PYTHON, ROOT
from dev.run import run, say
from dev.wheel import wheel

# Installs the wheel; the configurations of the device make no difference to it.
PACKAGING = "tests/packaging"

# Cases that say the same under every configuration.
ONCE = ("tests/modules", "tests/opinfo/test_variants.py", "tests/tools")

# The same cases under the configurations that change how the device behaves, and on a machine without AVX-512: PyTorch's
# kernels, its oneDNN and MKL, and softnpu's kernels each have a switch of their own.
CONFIGURATIONS: dict[str, Mapping[str, str]] = {
    "default": {},
    "queued": {"SOFTNPU_INLINE": "0"},
    "protected": {"SOFTNPU_PROTECT": "1"},
    "avx2": {
        "SOFTNPU_CPU_CAPABILITY": "avx2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}


def gtest(env: Mapping[str, str], folder: str = "build", leave_out: str = "") -> None:
    """Softnpu's own tests but those that match `leave_out`."""
    run(
        [
            ROOT / folder / "softnpu" / "tests" / "softnpu_tests",
            "--gtest_brief=1",
            f"--gtest_filter=-{leave_out}",
        ],
        env=env,
        cwd=BUILD,
    )


def pytest(env: Mapping[str, str], arguments: list[str]) -> None:
    """The tests in tests/, on both cores."""
    jobs = str(os.cpu_count() or 1)
    # Workers share the cores: each operator runs on one thread.
    run(
        [PYTHON, "-m", "pytest", "-q", "-n", jobs, "--dist", "worksteal", *arguments],
        env={"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **env},
    )


def test(arguments: list[str]) -> None:
    """Runs the default tier; `--all` every OpInfo and ModuleInfo case; other arguments go to pytest and select the tests to run."""
    build()
    if arguments[:1] == ["--all"]:
        opinfo(arguments[1:])
        return
    if arguments:
        pytest({}, arguments)
        return
    for name, env in CONFIGURATIONS.items():
        say(
            f"configuration {name}: {' '.join(f'{k}={v}' for k, v in env.items()) or 'no variables'}"
        )
        gtest(env)
        once = [] if name == "default" else [o for path in ONCE for o in ("--ignore", path)]
        pytest(env, ["tests", "--ignore", PACKAGING, *once])
    pytest({}, ["codegen/tests", "-n", "0"])
    wheel()
    pytest({}, [PACKAGING, "-n", "0"])
    for sanitize in ("address,undefined", "thread"):
        say(f"softnpu under -fsanitize={sanitize}")
        build(sanitize=sanitize)
        # The thread sanitizer takes libgomp's own synchronisation for races.
        leave_out = "MatmulTest.*:BernoulliTest.*" if sanitize == "thread" else ""
        folder = f"build-{sanitize.split(',')[0]}"
        gtest({"SOFTNPU_HBM": "1G", "SOFTNPU_INLINE": "0"}, folder, leave_out)
