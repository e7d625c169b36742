"""The sources of recently changed folders of softnpu under AddressSanitizer, linked with the other objects of build/.

Instrumented objects work together with others, so that a run of the tests costs the compilation of a few folders. Device
memory has its red zones: what allocates it is always instrumented.
"""

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dev.build import ccache, program
from dev.files import recently_changed
from dev.paths import BUILD, ROOT
from dev.pytests import gtest
from dev.run import DevError, output, say

FOLDER = BUILD.with_name("build-recent")
# Seconds in which compilations begin. Sources for which there was no time stay as they are; the rotation has them.
COMPILE_SECONDS = 150
# -Og compiles vector kernels four times as fast as -O1.
_FLAGS = "-fsanitize=address -fno-omit-frame-pointer -g1 -Og"
# Kernels are the same sources for AVX2 and AVX-512: one of them is enough, for the other objects, too.
_TARGETS = "-DHWY_DISABLED_TARGETS="
_AVX512 = 256
_ENVIRONMENT = {"SOFTNPU_CPU_CAPABILITY": "avx2"}
_HEAP = "softnpu/runtime/memory"
_RUNTIME = ("softnpu_tests", "softnpu_stress_tests", "softnpu_fuzz_tests", "softnpu_sharing_tests")
# The tests of folders, by their begin; others have none in C++.
PROGRAMS = {
    "softnpu/ascendcl": _RUNTIME,
    "softnpu/base": _RUNTIME,
    "softnpu/ccl": ("softnpu_ccl_tests",),
    "softnpu/fusion": ("softnpu_tests",),
    "softnpu/ge": ("softnpu_graph_tests",),
    "softnpu/graph": ("softnpu_graph_tests",),
    "softnpu/nnopbase": ("softnpu_tests", "softnpu_operator_fuzz_tests"),
    "softnpu/op_compiler": ("softnpu_tests",),
    "softnpu/ops": ("softnpu_tests", "softnpu_operator_fuzz_tests"),
    "softnpu/prof": ("softnpu_tests",),
    "softnpu/runtime": _RUNTIME,
    "softnpu/simd": ("softnpu_tests", "softnpu_operator_fuzz_tests"),
    "softnpu/tdt": ("softnpu_tests",),
    "softnpu/workers": ("softnpu_tests",),
}


@dataclass(frozen=True)
class Step:
    """A command of the build that writes ``result``; ``source`` is what a compilation reads, relative to the checkout."""

    words: tuple[str, ...]
    result: str
    source: str = ""


def folders(paths: Iterable[str]) -> set[str]:
    """The folders of sources and headers among ``paths`` that have tests in C++."""
    changed = {str(Path(path).parent) for path in paths if path.endswith((".cpp", ".h"))}
    return {folder for folder in changed if folder.startswith(tuple(PROGRAMS))}


def programs(chosen: Iterable[str]) -> list[str]:
    """The tests of the folders."""
    return sorted(
        {
            test
            for folder in chosen
            for begin, tests in PROGRAMS.items()
            if folder.startswith(begin)
            for test in tests
        }
    )


def steps(printed: str, root: Path = ROOT) -> list[Step]:
    """The compilations and links among the lines that ``ninja -t commands`` prints, in their order."""
    found = []
    for line in printed.splitlines():
        # A link is between `: &&` and commands that follow it, such as the discovery of tests.
        command = line.removeprefix(": && ").split(" && ")[0]
        if match := re.search(r"rm -f \S+ && (\S+ qc \S+ .*?) && ", line):
            command = match[1]
        words = tuple(word.replace("\\$", "$") for word in shlex.split(command))
        if "-o" in words:
            result = words[words.index("-o") + 1]
            source = words[words.index("-c") + 1] if "-c" in words else ""
            found.append(Step(words, result, source.removeprefix(f"{root}/")))
        elif "qc" in words[1:2]:
            found.append(Step(words, words[2]))
    return found


def is_needed(step: Step, root: Path = ROOT) -> bool:
    """Whether a compilation is of the heap, or of a test that asks for sanitizers: red zones and limits depend on them."""
    if step.source.startswith("softnpu/tests/"):
        text = (root / step.source).read_text()
        return "SANITIZE" in text or "sanitizers.h" in text
    return str(Path(step.source).parent) == _HEAP


def in_order(found: Iterable[Step], chosen: set[str], changed: set[str]) -> list[Step]:
    """The compilations with the sanitizer: what it needs, then files that changed, then others of their folders."""
    wanted = [step for step in found if step.source]
    needed = [step for step in wanted if is_needed(step)]
    of_folders = [
        step for step in wanted if step not in needed and str(Path(step.source).parent) in chosen
    ]
    return needed + sorted(of_folders, key=lambda step: step.source not in changed)


def affected(found: list[Step], compiled: set[str], tests: Iterable[str]) -> list[Step]:
    """The links that read an instrumented object or the result of such a link, and those of the tests."""
    names, chosen = set(compiled), []
    for step in found:
        if not step.source and (names & set(step.words) or Path(step.result).name in tests):
            names.add(step.result)
            chosen.append(step)
    return chosen


def instrumented(
    step: Step, results: set[str], build: Path = BUILD, folder: Path = FOLDER
) -> list[str]:
    """The command with the sanitizer, in ``folder``: other objects and libraries are those of ``build``."""

    def word(text: str) -> str:
        if text in results or text.startswith("/"):
            return text
        if text.startswith(_TARGETS):
            return f"{_TARGETS}{int(text.removeprefix(_TARGETS)) | _AVX512}"
        if text.startswith("-Wl,-rpath,"):
            paths = text.removeprefix("-Wl,-rpath,").strip(":")
            return f"-Wl,-rpath,{paths.replace(str(build), str(folder))}:{paths}"
        return str(build / text) if (build / text).exists() else text

    words = [
        word(text) for text in step.words if text not in ("-Winvalid-pch", "-mtls-dialect=gnu2")
    ]
    while "-include" in words:  # a precompiled header without the sanitizer
        at = words.index("-include")
        del words[at : at + 2]
    return words if "qc" in words[1:2] else [*words, *_FLAGS.split()]


def _run(step: Step, results: set[str]) -> str:
    (FOLDER / step.result).parent.mkdir(parents=True, exist_ok=True)
    (FOLDER / step.result).unlink(missing_ok=True)
    done = subprocess.run(
        instrumented(step, results),
        cwd=FOLDER,
        capture_output=True,
        text=True,
        env={**os.environ, **ccache()},
    )
    return f"{step.source or step.result}:\n{done.stderr}" if done.returncode else ""


def _link_libraries() -> None:
    """Puts links to the libraries that were not linked again beside the others: they load each other by their folder."""
    for library in (BUILD / "python" / "torch_npu" / "lib").rglob("*"):
        link = FOLDER / library.relative_to(BUILD)
        if not library.is_dir() and not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(library)


def recent(commits: int) -> None:
    """Compiles, links and runs what the last ``commits`` commits touched.

    Raises DevError if something does not compile, or if a test fails.
    """
    changed = recently_changed(commits)
    chosen = folders(changed)
    tests = programs(chosen)
    if not tests:
        say(f"no folder of softnpu with tests changed in {commits} commits")
        return
    say(f"address sanitizer: {', '.join(sorted(chosen))}")
    found = steps(output([program("ninja"), "-C", BUILD, "-t", "commands", *tests]))
    wanted = in_order(found, chosen, changed)
    shutil.rmtree(FOLDER, ignore_errors=True)
    end = time.monotonic() + COMPILE_SECONDS

    def compiled(step: Step) -> str | None:
        return _run(step, {step.result}) if time.monotonic() < end else None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = list(pool.map(compiled, wanted))
    done = {step.result for step, error in zip(wanted, errors, strict=True) if error is not None}
    if len(done) < len(wanted):
        say(f"no time for {len(wanted) - len(done)} of {len(wanted)} sources")
    links = affected(found, done, tests)
    results = done | {step.result for step in links}
    errors += [_run(step, results) for step in links]
    if failed := [error for error in errors if error]:
        raise DevError("\n".join(failed))
    _link_libraries()
    for test in tests:
        small = {"SOFTNPU_HBM": "1G", "SOFTNPU_INLINE": "0"} if test == "softnpu_tests" else {}
        gtest({**_ENVIRONMENT, **small}, [test], FOLDER.name)
