"""Compiles the result of a recipe with the build's options, mostly without generating code."""

import os
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import torch

TORCH = Path(torch.__file__).parent / "include"
PLUGIN = (
    "-DAT_PER_OPERATOR_HEADERS",
    "-DTORCH_EXTENSION_NAME=_C",
    *(f"-isystem{folder}" for folder in (TORCH, TORCH / "torch/csrc/api/include")),
    f"-isystem{sysconfig.get_paths()['include']}",
)


def errors(source: Path, include: Iterable[Path], *options: str) -> str:
    """The compiler's errors for ``source``; empty if there are none."""
    folders = [f"-I{folder}" for folder in include]
    command = ["c++", "-std=c++20", "-w", "-fsyntax-only", *folders, *options, source]
    # Errors in English, with plain quotes.
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    return done.stderr


def exported(source: Path, include: Iterable[Path], library: Path) -> set[str]:
    """The C names that a shared library of ``source`` exports."""
    folders = [f"-I{folder}" for folder in include]
    command = ["c++", "-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden", *folders, source]
    subprocess.run([*command, "-o", library], check=True)
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    return {line.split()[-1] for line in listed.stdout.splitlines()}
