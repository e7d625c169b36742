"""docs/ascend_c/tutorial.md: its listings are parts of the example, and its commands print what it says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ascend_c" / "silu"
TEXT = (ROOT / "docs" / "ascend_c" / "tutorial.md").read_text()


def _blocks(*languages: str) -> list[str]:
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def _commands() -> list[tuple[str, str]]:
    """Each command of the page with the lines below it."""
    sessions = "".join(_blocks("console"))
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", sessions, re.MULTILINE)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Where the kernels are compiled: each once for all commands."""
    return tmp_path_factory.mktemp("extensions")


@pytest.mark.parametrize("block", _blocks("cpp", "py"))
def test_a_listing_is_part_of_the_example(block):
    assert any(block in file.read_text() for file in EXAMPLE.iterdir() if file.is_file())


@pytest.mark.parametrize(("command", "expected"), _commands(), ids=lambda value: value[:60].strip())
def test_a_command_prints_what_the_page_says(command, expected, built):
    words = shlex.split(command)
    variables = dict(word.split("=", 1) for word in words if word.startswith("SOFTNPU_"))
    assert words[len(variables)] == "python"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SOFTNPU_KERNEL_")}
    done = subprocess.run(
        [sys.executable, *words[len(variables) + 1 :]],
        cwd=EXAMPLE,
        env=environment | variables | {"TORCH_EXTENSIONS_DIR": str(built)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode == 0) == ("are right" in expected), done.stderr
    assert expected.strip()
    assert (done.stdout + done.stderr).startswith(expected)


def test_the_wrong_size_is_wrong_without_checks(built):
    done = subprocess.run(
        [sys.executable, "silu.py", "--part", "1001"],
        cwd=EXAMPLE,
        env=os.environ | {"TORCH_EXTENSIONS_DIR": str(built)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Tensor-likes are not close" in done.stderr
