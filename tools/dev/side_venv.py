"""Environments beside .venv, with their own packages."""

from collections.abc import Mapping
from pathlib import Path

from dev.build import site_packages
from dev.paths import PYTHON
from dev.run import run, say


def make_side_venv(venv: Path, packages: list[str], sees: list[Path], *options: str) -> None:
    """Makes ``venv`` with ``packages``, installed with pip's ``options``, if it does not exist.

    A path of ``sees`` is searched, but the .pth files in it (the checkout's) are not read.
    """
    ready = venv / "ready"  # written last, so that an interrupted run is repeated
    wanted = "\n".join(packages)
    if ready.exists() and ready.read_text() == wanted:
        return
    say(f"virtual environment {venv.name} with {', '.join(packages)}")
    run([PYTHON, "-m", "venv", "--clear", venv])
    interpreter = venv / "bin" / "python"
    link = site_packages(interpreter) / "of_the_checkout.pth"
    link.write_text("".join(f"{path}\n" for path in sees))
    run([interpreter, "-m", "pip", "install", "--quiet", *options, *packages])
    ready.write_text(wanted)


def add_to_side_venv(venv: Path, packages: list[str], env: Mapping[str, str]) -> bool:
    """Installs ``packages`` without what they require, and builds them in ``venv`` itself, with ``env``.

    Returns False if that was done before.
    """
    ready = venv / "ready_alone"
    wanted = "\n".join(packages)
    if ready.exists() and ready.read_text() == wanted:
        return False
    say(f"virtual environment {venv.name}: {', '.join(packages)}")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-binary", "vllm,vllm-ascend"]
    run([venv / "bin" / "python", "-m", "pip", "install", *options, *packages], env=dict(env))
    ready.write_text(wanted)
    return True
