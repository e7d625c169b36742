"""Runs clang-tidy on softnpu's sources: all, a rotating part, or those that a change affects."""

import json
import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from dev.build import configure, program
from dev.files import tracked
from dev.paths import BUILD, ROOT
from dev.run import run, say

# The plug-in's torch headers would cost minutes.
FOLDERS = tuple(
    f"softnpu/{name}/"
    for name in (
        "base",
        "simd",
        "ccl",
        "fusion",
        "runtime",
        "ascendcl",
        "graph",
        "op_compiler",
        "nnopbase",
        "ops",
    )
)
# The number of sources checked for a changed header.
READERS = 2


def _database() -> Path:
    """Writes the compile commands in a form that clang-tidy can read; returns their folder."""
    configure()
    run([program("ninja"), "-C", BUILD, "operator_headers"], quiet=True)  # included headers
    commands = (BUILD / "compile_commands.json").read_text()
    # clang-tidy does not accept this flag of GCC's.
    commands = commands.replace(" -mtls-dialect=gnu2", "")
    # It cannot read GCC's precompiled headers either: it reads the headers that each file includes.
    commands = re.sub(r" -Winvalid-pch -include \S+cmake_pch\.hxx", "", commands)
    # Highway's kernels are the same text for each instruction set: the smallest set is enough.
    commands = re.sub(r"-DHWY_DISABLED_TARGETS=\d+", "-DHWY_DISABLED_TARGETS=6912", commands)
    folder = BUILD / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(commands)
    return folder


def sources() -> list[str]:
    """Every source that clang-tidy checks, relative to the checkout."""
    found = (file.relative_to(ROOT).as_posix() for file in tracked("softnpu/*.cpp"))
    return sorted(path for path in found if path.startswith(FOLDERS))


def touched(paths: Iterable[str]) -> list[str]:
    """The sources among ``paths``, and for each header among them the first sources that include it."""
    known = sources()
    found = {path for path in paths if path in known}
    for header in paths:
        if not header.startswith(FOLDERS) or not header.endswith(".h"):
            continue
        include = f'#include "{header.removeprefix("softnpu/")}"'
        readers = (path for path in known if include in (ROOT / path).read_text())
        found.update(path for path, _ in zip(readers, range(READERS), strict=False))
    return sorted(found)


def part_of(part: int, parts: int) -> list[str]:
    """The sources of one of ``parts`` parts; all parts together are all sources."""
    return [path for path in sources() if zlib.crc32(path.encode()) % parts == part % parts]


def tidy(paths: list[str]) -> None:
    """Runs clang-tidy on ``paths``; raises DevError if it finds something."""
    if not paths:
        return
    say(f"clang-tidy: {len(paths)} of {len(sources())} sources")
    folder = _database()
    known = {entry["file"] for entry in json.loads((folder / "compile_commands.json").read_text())}
    chosen = [str(ROOT / path) for path in paths if str(ROOT / path) in known]
    if not chosen:
        return
    jobs = str(os.cpu_count() or 1)
    names = [f"^{re.escape(path)}$" for path in chosen]
    run(
        ["run-clang-tidy", "-p", folder, "-quiet", "-j", jobs, *names],
        hint="clang-tidy found what is shown above",
        quiet=True,
    )
