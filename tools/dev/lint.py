"""`./dev lint` and `./dev fmt`: the checks of `.pre-commit-config.yaml`, and clang-tidy."""

from collections.abc import Iterable
from pathlib import Path

from dev import tidy
from dev.files import tracked
from dev.paths import BUILD, PYTHON, ROOT, VENV
from dev.run import run, say

# That of the pinned wheel: versions differ in details of the format.
CLANG_FORMAT = VENV / "bin" / "clang-format"
CHECKED = ("*.py", "*.pyi", "*.cpp", "*.h", "*.md")


def lint_files(files: Iterable[Path] | None = None) -> None:
    """Runs all checks but clang-tidy on ``files``, or on all files; raises DevError after their findings."""
    chosen = tracked(*CHECKED) if files is None else files
    names = [file.relative_to(ROOT) for file in chosen]
    if not names:
        return
    say("pre-commit")
    # In the build folder, since a home may be read-only.
    env = {"PRE_COMMIT_HOME": str(BUILD / "pre-commit")}
    command = [VENV / "bin" / "pre-commit", "run", "--color", "never", "--files", *names]
    run(command, env=env, hint="./dev fmt formats; .pre-commit-config.yaml has the checks")


def lint() -> None:
    """Runs all checks on all files."""
    lint_files()
    tidy.tidy(tidy.sources())


def fmt() -> None:
    """Formats Python and C++ in place."""
    run([PYTHON, "-m", "ruff", "check", "--fix", "--quiet", "."])
    run([PYTHON, "-m", "ruff", "format", "--quiet", "."])
    run([CLANG_FORMAT, "-i", *tracked("*.cpp", "*.h")])
