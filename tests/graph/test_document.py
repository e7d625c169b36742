"""docs/graph.md: its model is exported, compiled by its command, and run by its program."""

import contextlib
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from graph.acl_model import LIB

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs" / "graph.md").read_text().split("## Compiled models")[1]


def test_the_example(tmp_path, monkeypatch):
    listing, commands, program = re.findall(r"```\w+\n(.*?)```", SECTION, re.DOTALL)[:3]
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(listing, "docs/graph.md", "exec"), {})
    expected = [float(number) for number in re.findall(r"-?\d+\.\d+", printed.getvalue())]
    atc = next(line for line in commands.splitlines() if line.startswith("atc "))
    path = f"{LIB.parent / 'cann' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        shlex.split(atc),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PATH": path},
    )
    assert done.stdout.endswith("ATC run success\n")
    name, *words = program.split()
    message = subprocess.run(
        [ROOT / "build" / "examples" / "acl" / name, *words],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    label, *numbers = message.split()
    assert label == "y:"
    # Both print 4 decimals or 6 digits of float32.
    assert [float(number) for number in numbers] == pytest.approx(expected, abs=1e-4)


def test_the_options_exist():
    table = re.findall(r"`--(\w+)", SECTION)
    known = subprocess.run(
        [LIB.parent / "cann" / "bin" / "atc", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert [name for name in table if f"--{name}" not in known] == []
