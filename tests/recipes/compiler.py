"""Compiles what a recipe leads to, as the build does but without code."""

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
    """What the compiler says to ``source``; nothing where it is right."""
    folders = [f"-I{folder}" for folder in include]
    command = ["c++", "-std=c++20", "-w", "-fsyntax-only", *folders, *options, source]
    # In English, with plain quotes.
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    return done.stderr


def exported(source: Path, include: Iterable[Path], library: Path) -> set[str]:
    """The C names that a shared library of ``source`` alone gives to others."""
    folders = [f"-I{folder}" for folder in include]
    command = ["c++", "-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden", *folders, source]
    subprocess.run([*command, "-o", library], check=True)
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    return {line.split()[-1] for line in listed.stdout.splitlines()}
