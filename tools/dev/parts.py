"""The parts of `./dev test`: those of every run, and the rotating ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dev import tidy
from dev.api import break_sample
from dev.build import build, check_nothing_to_build
from dev.files import recently_changed
from dev.fuzz import fuzz
from dev.lint import lint_files
from dev.notebooks import notebooks
from dev.opinfo import opinfo
from dev.oracle import oracle
from dev.pytests import FUNCTIONS, KERNELS, LIMITS, NO_DEVICE, gtest, pytest, without_device
from dev.recent import recent
from dev.wheel import wheel

# Installs the wheel; the configurations of the device do not affect it.
PACKAGING = "tests/packaging"
# Runs in a separate environment, as ./dev oracle does.
ORACLE = "tests/oracle"
# The same, as ./dev clients does.
CLIENTS = "tests/clients"

# Cases with the same result in every configuration, or that start programs with their own configuration.
ONCE = (
    "tests/abi",
    "tests/ascendc/test_driver.py",
    "tests/ascendc/test_rewrite.py",
    "tests/ascendc/test_tiling.py",
    "tests/capability/test_allocator_settings.py",
    "tests/capability/test_load.py",
    "tests/extension",
    "tests/migration",
    "tests/models/test_examples.py",
    "tests/modules",
    "tests/opinfo/test_variants.py",
    "tests/schemas",
    "tests/article_examples",
    "tests/versions",
)

# Configurations that change the device's behaviour, and a machine without AVX-512: PyTorch's kernels, its oneDNN and
# MKL,
# and softnpu's kernels each have a separate switch.
CONFIGURATIONS: dict[str, Mapping[str, str]] = {
    "queued": {"SOFTNPU_INLINE": "0"},
    "protected": {"SOFTNPU_PROTECT": "1"},
    "avx2": {
        "SOFTNPU_CPU_CAPABILITY": "avx2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}

# The number of parts into which cases that are too many for one run are divided.
CASE_SHARDS = 5
TIDY_PARTS = 8
OPINFO_PARTS = 6
# Random calls per operator and data type in a run; each run has other calls.
DRAWS = 2
# Names of the Python API whose tests a run checks, others each time, and more than there are: all of them.
BROKEN, MOST_BROKEN = 10, 10_000
# The sources changed by this many commits are checked in every run: by clang-tidy at most this many, and by the address
# sanitizer.
RECENT_COMMITS, MOST_RECENT = 10, 24


@dataclass(frozen=True)
class Rotation:
    """Which part of the rotating cases a run has; ``full``: all of them."""

    number: int
    full: bool = False

    def share(self, parts: int) -> str:
        """This run's share of ``parts`` in the syntax of pytest's option --shard."""
        return "1/1" if self.full else f"{self.number % parts + 1}/{parts}"


@dataclass(frozen=True)
class Part:
    """One part: its word, its description, its minutes on two cores without a compiler cache, and its function."""

    word: str
    what: str
    minutes: int
    run: Callable[[Rotation], None]


def _build(_: Rotation) -> None:
    build()
    check_nothing_to_build()


def _lint(rotation: Rotation) -> None:
    lint_files()
    if rotation.full:
        tidy.tidy(tidy.sources())
        return
    recent = tidy.touched(recently_changed(RECENT_COMMITS))[:MOST_RECENT]
    tidy.tidy(sorted({*recent, *tidy.part_of(rotation.number, TIDY_PARTS)}))


def suite(*left_out: str) -> list[str]:
    """The device's tests in this environment as pytest arguments, without the paths ``left_out``."""
    ignored = (PACKAGING, ORACLE, CLIENTS, *NO_DEVICE, *left_out)
    return ["tests", *(option for path in ignored for option in ("--ignore", path))]


def _tests(rotation: Rotation) -> None:
    pytest({}, [*suite(), "--shard", rotation.share(CASE_SHARDS)])
    break_sample(MOST_BROKEN if rotation.full else BROKEN, rotation.number)


def _fuzz(rotation: Rotation) -> None:
    draws = 8 * DRAWS if rotation.full else DRAWS
    fuzz(seed=rotation.number * 8 * DRAWS, draws=draws)


def _configuration(name: str) -> Callable[[Rotation], None]:
    def run(rotation: Rotation) -> None:
        env = CONFIGURATIONS[name]
        gtest(env, FUNCTIONS + KERNELS)
        # Another share of the cases than the default configuration's.
        share = Rotation(rotation.number + 1, rotation.full).share(CASE_SHARDS)
        pytest(env, [*suite(*(() if rotation.full else ONCE)), "--shard", share])

    return run


def _sanitizer(sanitizer: str) -> Callable[[Rotation], None]:
    def run(_: Rotation) -> None:
        build(sanitize=sanitizer)
        folder = f"build-{sanitizer.split(',')[0]}"
        gtest({"SOFTNPU_HBM": "1G", "SOFTNPU_INLINE": "0"}, FUNCTIONS, folder)
        # The thread sanitizer itself calls, at its start, the functions that the fault tests replace; the operator
        # fuzz tests
        # find memory errors, with one thread.
        single = {"softnpu_fault_tests", "softnpu_operator_fuzz_tests"}
        left_out = single if sanitizer == "thread" else set()
        gtest({}, [program for program in LIMITS if program not in left_out], folder)

    return run


def _opinfo(rotation: Rotation) -> None:
    opinfo(part=(0, 1) if rotation.full else (rotation.number % OPINFO_PARTS, OPINFO_PARTS))


def _package(_: Rotation) -> None:
    wheel()
    pytest({}, [PACKAGING], jobs=0)
    notebooks()


# Its folders are a part of `address`, so that a run has one of the two.
RECENT = Part(
    "recent",
    "softnpu's recently changed folders under AddressSanitizer",
    4,
    lambda _: recent(RECENT_COMMITS),
)
EVERY = (
    Part(
        "lint", "ruff, mypy, clang-format, layers, documents; clang-tidy of recent files", 2, _lint
    ),
    Part("build", "the libraries, the plug-in, the tests", 10, _build),
    Part("generators", "codegen, opgen and ./dev, without a device", 1, lambda _: without_device()),
    Part("functions", "softnpu's GoogleTest", 1, lambda _: gtest({}, FUNCTIONS + KERNELS + LIMITS)),
    RECENT,
    Part("tests", "capabilities, and a part of the operators' cases", 6, _tests),
    Part("fuzz", "random calls of every operator with an aclnn entry", 1, _fuzz),
)

IN_TURN = (
    Part("queued", "the tests with every task through the executor", 4, _configuration("queued")),
    Part("protected", "the tests with device memory protected", 4, _configuration("protected")),
    Part("avx2", "the tests on a CPU without AVX-512", 4, _configuration("avx2")),
    Part("address", "softnpu under AddressSanitizer, UBSan", 11, _sanitizer("address,undefined")),
    Part("thread", "softnpu under ThreadSanitizer", 7, _sanitizer("thread")),
    Part("wheel", "the official torch_npu wheel on softnpu", 3, lambda _: oracle()),
    Part("package", "the wheel of this checkout, installed; the notebooks", 1, _package),
    Part("opinfo", "a part of all OpInfo and ModuleInfo cases", 4, _opinfo),
)

# The rotating parts that run together: each run has one row.
SHARES = (
    ("queued", "wheel"),
    ("address",),
    ("protected", "package"),
    ("thread",),
    ("opinfo", "wheel"),
    ("avx2", "package"),
)


def applies(part: Part) -> bool:
    """Whether a part differs on this machine: a machine without AVX-512 always runs with AVX2."""
    cpuinfo = Path("/proc/cpuinfo")
    return part.word != "avx2" or not cpuinfo.exists() or " avx512f " in cpuinfo.read_text()


def words() -> list[str]:
    """The words of all parts."""
    return [part.word for part in (*EVERY, *IN_TURN)]


def by_word(word: str) -> Part:
    """The part with this word."""
    return next(part for part in (*EVERY, *IN_TURN) if part.word == word)


def chosen(rotation: Rotation) -> list[Part]:
    """The parts of one run in order."""
    row = words() if rotation.full else SHARES[rotation.number % len(SHARES)]
    every = (part for part in EVERY if part is not RECENT or "address" not in row)
    return [*every, *(part for part in IN_TURN if part.word in row and applies(part))]
