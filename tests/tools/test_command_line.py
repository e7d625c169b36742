"""`./dev VERB`: help, misspelled words, the lock on build/."""

import ast
import os
import subprocess
import sys
import time

import pytest
from dev import __main__ as dev
from dev import bench
from dev.lock import HELD, locked
from dev.paths import ROOT


def call(*words: str) -> subprocess.CompletedProcess[str]:
    """``./dev`` with an empty PATH: it prints help and errors without other programs."""
    return subprocess.run(
        [sys.executable, "-m", "dev", *words],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "tools"), "PATH": ""},
    )


@pytest.mark.parametrize("verb", dev.VERBS)
def test_every_verb_has_help_that_runs_nothing(verb):
    printed = call(verb, "--help")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.startswith(f"usage: ./dev {verb}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tset"], "unknown verb 'tset': did you mean 'test'?"),
        (["setup", "build"], "takes no argument 'build'; one verb a call: ./dev build"),
        (["test", "--ful"], "unknown argument '--ful': did you mean '--full'?"),
        (["gen", "--update-golden"], "did you mean '--update-goldens'?"),
        (["build", "--frobnicate=3"], "unknown argument '--frobnicate=3'\n"),
    ],
)
def test_a_wrong_word_is_an_error_with_a_suggestion(words, says):
    printed = call(*words)
    assert printed.returncode == 2
    assert says in printed.stderr
    assert "Traceback" not in printed.stderr


def test_the_suites_of_the_help_are_those_that_there_are():
    tree = ast.parse((ROOT / "bench" / "run.py").read_text())
    (suites,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "SUITES"
    )
    assert [key.value for key in suites.keys] == list(bench.SUITES)


HOLDER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from dev.lock import locked
with locked(Path(sys.argv[2]), "./dev test"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_second_command_names_the_one_it_waits_for(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv(HELD, raising=False)
    words = [sys.executable, "-c", HOLDER, ROOT / "tools", tmp_path / "build"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "held\n"
        second = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        waits = second.stdout.readline()
        assert f"build/ is in use by ./dev test (process {first.pid}, since " in waits
        assert second.poll() is None
        first.stdin.close()
        assert second.stdout.readline() == "held\n"
        second.stdin.close()
        assert second.wait() == 0


def test_the_lock_ends_with_a_killed_process(tmp_path, monkeypatch):
    monkeypatch.delenv(HELD, raising=False)
    words = [sys.executable, "-c", HOLDER, ROOT / "tools", tmp_path / "build"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        first.stdout.readline()
        first.kill()
    started = time.monotonic()
    with locked(tmp_path / "build", "./dev build"):
        assert os.environ[HELD] == str(tmp_path / "build")
        with locked(tmp_path / "build", "./dev wheel"):  # started by the command that has the lock
            pass
    assert HELD not in os.environ
    assert time.monotonic() - started < 60
