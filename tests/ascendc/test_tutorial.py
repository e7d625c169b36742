"""Tutorials of docs/ascend_c: their listings are parts of the examples, and their commands print what they say."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "ascend_c"
PAGES = {"tutorial.md": EXAMPLES / "silu", "product.md": EXAMPLES / "product"}


def _blocks(page: str, *languages: str) -> list[str]:
    text = (ROOT / "docs" / "ascend_c" / page).read_text()
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def _listings() -> list[tuple[Path, str]]:
    """Each listing with the folder of its page's example."""
    return [
        (folder, block) for page, folder in PAGES.items() for block in _blocks(page, "cpp", "py")
    ]


def _commands() -> list[tuple[Path, str, str]]:
    """Each command of a page with the lines below it."""
    return [
        (folder, *found)
        for page, folder in PAGES.items()
        for found in re.findall(
            r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(_blocks(page, "console")), re.MULTILINE
        )
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Where the kernels are compiled: each once for all commands."""
    return tmp_path_factory.mktemp("extensions")


@pytest.mark.parametrize(("folder", "block"), _listings())
def test_a_listing_is_part_of_the_example(folder, block):
    assert any(block in file.read_text() for file in folder.iterdir() if file.is_file())


@pytest.mark.parametrize(
    ("folder", "command", "expected"),
    _commands(),
    ids=lambda value: str(value)[-60:].strip().split("/")[-1],
)
def test_a_command_prints_what_the_page_says(folder, command, expected, built):
    words = shlex.split(command)
    variables = dict(word.split("=", 1) for word in words if word.startswith("SOFTNPU_"))
    assert words[len(variables)] == "python"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SOFTNPU_KERNEL_")}
    done = subprocess.run(
        [sys.executable, *words[len(variables) + 1 :]],
        cwd=folder,
        env=environment | variables | {"TORCH_EXTENSIONS_DIR": str(built)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode == 0) == ("are right" in expected), done.stderr
    assert expected.strip()
    assert (done.stdout + done.stderr).startswith(expected.rstrip("\n"))


def test_the_wrong_size_is_wrong_without_checks(built):
    done = subprocess.run(
        [sys.executable, "silu.py", "--part", "1001"],
        cwd=EXAMPLES / "silu",
        env=os.environ | {"TORCH_EXTENSIONS_DIR": str(built)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Tensor-likes are not close" in done.stderr
