"""The platform tag of a wheel, computed from the symbol versions of glibc and libstdc++ that its libraries need."""

import platform
import re
from collections.abc import Iterable
from pathlib import Path

from dev.run import DevError, output

Version = tuple[int, ...]

# The newest versions of libstdc++'s symbols -> the oldest glibc of the distributions that have them: GCC 11 in RHEL
# 9,
# 12 in Ubuntu 22.04, 13 in Ubuntu 23.10, 14 in Ubuntu 24.04, 15 in Fedora 42 and newer.
LIBSTDCXX: dict[str, tuple[tuple[Version, Version], ...]] = {
    "GLIBCXX": (
        ((3, 4, 29), (2, 34)),
        ((3, 4, 30), (2, 35)),
        ((3, 4, 32), (2, 38)),
        ((3, 4, 33), (2, 39)),
        ((3, 4, 34), (2, 41)),
    ),
    "CXXABI": (
        ((1, 3, 13), (2, 34)),
        ((1, 3, 14), (2, 38)),
        ((1, 3, 15), (2, 39)),
        ((1, 3, 16), (2, 41)),
    ),
}


def needed_versions(library: Path) -> set[tuple[str, Version]]:
    """The symbol versions that an ELF library needs from others, as ("GLIBC", (2, 38)).

    Raises DevError if objdump cannot read it.
    """
    printed = output(["objdump", "-p", library])
    if not printed:
        raise DevError(f"objdump cannot read {library}: is binutils installed, is it an ELF file?")
    _, _, references = printed.partition("Version References:")
    found = re.findall(r"\s(GLIBC|GLIBCXX|CXXABI)_(\d+(?:\.\d+)*)\s", references + "\n")
    return {(name, tuple(map(int, version.split(".")))) for name, version in found}


def oldest_glibc(needed: Iterable[tuple[str, Version]]) -> Version:
    """The oldest glibc of a system that has all of ``needed``, as (2, 38).

    Raises DevError for a version of libstdc++ that is not in the table.
    """
    oldest: Version = (2, 17)
    for name, version in needed:
        if name == "GLIBC":
            oldest = max(oldest, version[:2])
            continue
        glibc = next((glibc for newest, glibc in LIBSTDCXX[name] if version <= newest), None)
        if glibc is None:
            shown = ".".join(map(str, version))
            raise DevError(
                f"{name}_{shown} is of a newer libstdc++ than {Path(__file__).name} knows"
            )
        oldest = max(oldest, glibc)
    return oldest


def platform_tag(libraries: Iterable[Path]) -> str:
    """The manylinux tag for a wheel with ``libraries``."""
    needed = {version for library in libraries for version in needed_versions(library)}
    major, minor = oldest_glibc(needed)
    return f"manylinux_{major}_{minor}_{platform.machine()}"
