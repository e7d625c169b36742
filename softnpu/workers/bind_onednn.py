"""Binds oneDNN's OpenMP calls to softnpu's workers: libgomp's names in it become softnpu's (openmp.cpp).

The names are of libgomp's versions and get the prefix ``softnpu_``, so that a libgomp whose names are global, as
PyTorch's are, is no candidate for them.
"""

import argparse
from pathlib import Path

import lief

LIBGOMP = "libgomp.so.1"


def bind(source: Path, target: Path, library: str) -> None:
    """Writes ``source`` with its calls of libgomp bound to ``library``.

    Args:
        source: A shared library of oneDNN for libgomp.
        target: The file to write.
        library: The name of the library that has the functions.

    Raises:
        ValueError: ``source`` is not such a library.
    """
    binary = lief.ELF.parse(source)
    needs = [r for r in binary.symbols_version_requirement if r.name == LIBGOMP] if binary else []
    if binary is None or not needs:
        raise ValueError(
            f"{source} is no shared library that needs {LIBGOMP}; oneDNN's package for gomp is wanted"
        )
    versions = {version.name for need in needs for version in need.get_auxiliary_symbols()}
    for symbol in binary.dynamic_symbols:
        version = symbol.symbol_version
        aux = version.symbol_version_auxiliary if version else None
        if symbol.imported and aux is not None and aux.name in versions:
            symbol.name = f"softnpu_{symbol.name}"
    for need in needs:
        need.name = library
    binary.get_library(LIBGOMP).name = library
    binary.write(str(target))


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
