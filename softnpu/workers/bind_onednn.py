"""Binds oneDNN's OpenMP calls to softnpu's workers: libgomp's names in it become softnpu's (openmp.cpp).

The names are of libgomp's versions and get the prefix ``softnpu_``, so that a libgomp whose names are global, as
PyTorch's are, is no candidate for them.
"""

import argparse
from pathlib import Path

import lief

LIBGOMP = "libgomp.so.1"
PREFIX = "softnpu_"
# What openmp.cpp has.
FUNCTIONS = frozenset(
    {
        "GOMP_barrier",
        "GOMP_loop_end_nowait",
        "GOMP_loop_static_next",
        "GOMP_loop_static_start",
        "GOMP_parallel_end",
        "GOMP_parallel_start",
        "omp_get_max_threads",
        "omp_get_num_threads",
        "omp_get_thread_num",
        "omp_in_parallel",
    }
)


def bind(source: Path, target: Path, library: str) -> None:
    """Writes ``source`` with its calls of libgomp bound to ``library``.

    Args:
        source: A shared library of oneDNN for libgomp.
        target: The file to write.
        library: The name of the library that has the functions.

    Raises:
        ValueError: ``source`` is not such a library, or calls what the workers lack.
    """
    binary = lief.ELF.parse(source)
    needs = [r for r in binary.symbols_version_requirement if r.name == LIBGOMP] if binary else []
    if binary is None or not needs:
        raise ValueError(
            f"{source} is no shared library that needs {LIBGOMP}; oneDNN's package for gomp is wanted"
        )
    versions = {version.name for need in needs for version in need.get_auxiliary_symbols()}
    called = [symbol for symbol in binary.dynamic_symbols if _version(symbol) in versions]
    if unknown := {symbol.name for symbol in called} - FUNCTIONS:
        raise ValueError(
            f"{source} calls {', '.join(sorted(unknown))}; openmp.cpp has to have them"
        )
    for symbol in called:
        symbol.name = PREFIX + symbol.name
    for need in needs:
        need.name = library
    binary.get_library(LIBGOMP).name = library
    binary.write(str(target))


def _version(symbol: lief.ELF.Symbol) -> str | None:
    """The version of a symbol that is looked up elsewhere."""
    version = symbol.symbol_version if symbol.imported else None
    needed = version.symbol_version_auxiliary if version else None
    return needed.name if needed else None


def main() -> None:
    """Runs bind() with the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "target"):
        parser.add_argument(name, type=Path)
    parser.add_argument("library")
    args = parser.parse_args()
    bind(args.source, args.target, args.library)


if __name__ == "__main__":
    main()
