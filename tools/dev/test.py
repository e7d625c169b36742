"""`./dev test`: the default tier; `--all` and `--configurations` are what takes longer, `--sanitize` is a part alone."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from dev.build import build
from dev.opinfo import opinfo
from dev.oracle import oracle
from dev.paths import BUILD, PYTHON, ROOT
from dev.run import run, say
from dev.wheel import wheel

# Installs the wheel; the configurations of the device make no difference to it.
PACKAGING = "tests/packaging"
# Runs in an environment of its own, as ./dev oracle does.
ORACLE = "tests/oracle"

# Cases that say the same under every configuration, or start programs that set up one of their own.
ONCE = (
    "tests/abi",
    "tests/capability/test_allocator_settings.py",
    "tests/capability/test_load.py",
    "tests/models/test_examples.py",
    "tests/modules",
    "tests/opgen",
    "tests/opinfo/test_variants.py",
    "tests/tools",
)

# Configurations that change how the device behaves, and a machine without AVX-512: PyTorch's kernels, its oneDNN and MKL,
# and softnpu's kernels each have a switch of their own. Beside the default, each runs every test of a capability, and a
# share of the operators' cases: each case runs under the default configuration and one other.
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


# Softnpu's tests of what its functions do, and those that bring it to its limits: each executable of the latter sets the
# process up its own way.
FUNCTIONS = ("softnpu_tests",)
LIMITS = (
    "softnpu_stress_tests",
    "softnpu_fuzz_tests",
    "softnpu_operator_fuzz_tests",
    "softnpu_fault_tests",
)

SANITIZERS = ("address,undefined", "thread")


def gtest(env: Mapping[str, str], programs: Iterable[str], folder: str = "build") -> None:
    """Softnpu's own tests."""
    for program in programs:
        executable = ROOT / folder / "softnpu" / "tests" / program
        run([executable, "--gtest_brief=1"], env=env, cwd=BUILD)


def sanitize() -> None:
    """Softnpu's own tests under each sanitizer."""
    for sanitizer in SANITIZERS:
        say(f"softnpu under -fsanitize={sanitizer}")
        build(sanitize=sanitizer)
        folder = f"build-{sanitizer.split(',')[0]}"
        gtest({"SOFTNPU_HBM": "1G", "SOFTNPU_INLINE": "0"}, FUNCTIONS, folder)
        # The thread sanitizer's own start goes through the calls that the fault tests replace; the operators' arguments
        # are drawn to find memory errors, by one thread.
        single = {"softnpu_fault_tests", "softnpu_operator_fuzz_tests"}
        left_out = single if sanitizer == "thread" else set()
        gtest({}, [program for program in LIMITS if program not in left_out], folder)


def pytest(env: Mapping[str, str], arguments: list[str]) -> None:
    """The tests in tests/, on both cores."""
    jobs = str(os.cpu_count() or 1)
    # Workers share the cores: each operator runs on one thread.
    run(
        [PYTHON, "-m", "pytest", "-q", "-n", jobs, "--dist", "worksteal", *arguments],
        env={"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **env},
    )


def chosen() -> dict[str, Mapping[str, str]]:
    """The configurations that differ on this machine: one without AVX-512 is limited to AVX2 by itself."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists() or " avx512f " in cpuinfo.read_text():
        return CONFIGURATIONS
    return {name: env for name, env in CONFIGURATIONS.items() if name != "avx2"}


def configurations(*, whole: bool) -> None:
    """The tests under each configuration; `whole`: every case under every one."""
    ran = chosen()
    others = len(ran) - 1
    for index, (name, env) in enumerate(ran.items()):
        variables = " ".join(f"{k}={v}" for k, v in env.items()) or "no variables"
        say(f"configuration {name}: {variables}")
        gtest(env, FUNCTIONS + LIMITS if index == 0 else FUNCTIONS)
        once = [] if index == 0 else [o for path in ONCE for o in ("--ignore", path)]
        share = "1/1" if index == 0 or whole else f"{index}/{others}"
        pytest(env, ["tests", "--ignore", PACKAGING, "--ignore", ORACLE, *once, "--sweeps", share])


def test(arguments: list[str]) -> None:
    """Runs the default tier.

    `--all` runs every OpInfo and ModuleInfo case; `--configurations` every case under every configuration; `--sanitize`
    softnpu under the sanitizers; other arguments go to pytest and select the tests to run.
    """
    if arguments == ["--sanitize"]:
        BUILD.mkdir(exist_ok=True)
        sanitize()
        return
    build()
    if arguments[:1] == ["--all"]:
        opinfo(arguments[1:])
        return
    if arguments == ["--configurations"]:
        configurations(whole=True)
        return
    if arguments:
        pytest({}, arguments)
        return
    configurations(whole=False)
    pytest({}, ["codegen/tests", "-n", "0"])
    say("the official wheel on softnpu")
    oracle([])
    wheel()
    pytest({}, [PACKAGING, "-n", "0"])
    sanitize()
