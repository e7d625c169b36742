"""Environments beside .venv, with their own packages."""

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
