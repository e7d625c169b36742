"""What a change rebuilds: the steps that Ninja runs after one file has changed, in the build folder that is tested."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from dev.build import ccache, program

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def steps():
    """The steps of a build, by what they make: without the check of globbed folders."""
    message = subprocess.run(
        [program("ninja"), "-C", BUILD, "-d", "stats"],
        capture_output=True,
        text=True,
        env={**os.environ, **ccache()},
    )
    assert message.returncode == 0, message.stdout + message.stderr
    lines = [
        re.sub(r"^\[\d+/\d+\] ", "", line)
        for line in message.stdout.splitlines()
        if line.startswith("[")
    ]
    return [line for line in lines if "globbed" not in line]


def compiled(lines):
    return [line for line in lines if line.startswith("Building")]


@pytest.fixture(autouse=True)
def _is_built():
    steps()
    assert steps() == [], "a second build has something to do"


def test_one_kernel_is_compiled_alone():
    (ROOT / "softnpu/ops/nn/norm/slices.cpp").touch()
    lines = steps()
    assert [line.rpartition("/")[2] for line in compiled(lines)] == ["slices.cpp.o"]
    assert any("libopapi" in line for line in lines)


def test_a_header_of_a_family_rebuilds_the_files_that_include_it():
    including = subprocess.check_output(
        [
            "grep",
            "-rlE",
            r'"ops/nn/norm/(slices|channels)\.h"',
            ROOT / "softnpu",
            "--include=*.cpp",
        ],
        text=True,
    ).split()
    (ROOT / "softnpu/ops/nn/norm/slices.h").touch()
    names = {line.rpartition("/")[2].removesuffix(".o") for line in compiled(steps())}
    assert names == {Path(path).name for path in including}


def test_an_entry_that_generates_the_same_compiles_nothing():
    (ROOT / "torch_npu/csrc/aten/native_functions/gates.yaml").touch()
    lines = steps()
    assert any("operator wrappers" in line for line in lines)
    assert compiled(lines) == []
