"""`./dev notebooks`: pages of docs/ as Jupyter notebooks in build/notebooks, for a class or a first look in a browser.

A page's Python blocks become cells by jupytext; its commands of a shell stay text. nbmake runs them, each notebook in one
process, as a reader does.
"""

import re
import shutil
from pathlib import Path

from dev.build import site_packages
from dev.paths import BUILD, PACKAGE_ROOT, ROOT
from dev.run import DevError, run, say
from dev.side_venv import make_side_venv

VENV = ROOT / ".venv-notebooks"
PACKAGES = ["jupytext==1.19.6", "nbmake==1.5.5", "ipykernel==7.4.0"]
FOLDER = BUILD / "notebooks"
# The pages whose Python blocks need no files and no other processes.
PAGES = ("quickstart", "precision", "accuracy", "profiling", "compile")
# A link to another document leads nowhere from a notebook.
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)\s]+\.md(?:#[^)]*)?\)")
_FENCE = re.compile(r"^```(?!python)(\w+)$", re.MULTILINE)


def cells(text: str) -> str:
    """``text`` as jupytext reads it: blocks of other languages than Python are no cells, links to documents are text."""
    return _FENCE.sub(r"```\1 .noeval", _LINK.sub(r"\1", text))


def write(folder: Path = FOLDER, pages: tuple[str, ...] = PAGES) -> list[Path]:
    """The notebooks of ``pages`` in ``folder``, which is made new.

    Raises:
        DevError: a page has no Python block.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    result = []
    for name in pages:
        document = ROOT / "docs" / f"{name}.md"
        text = document.read_text()
        if "```python\n" not in text:
            raise DevError(f"{document}: no Python block, so there is no notebook to make of it")
        source = folder / f"{name}.md"
        source.write_text(cells(text))
        result.append(folder / f"{name}.ipynb")
        convert = [VENV / "bin" / "jupytext", "--quiet", "--from", "md", "--to", "ipynb"]
        run([*convert, "--set-kernel", "python3", "--output", result[-1], source])
        source.unlink()
    return result


def notebooks() -> None:
    """Writes the notebooks and runs them.

    Raises:
        DevError: a cell fails.
    """
    make_side_venv(VENV, PACKAGES, [site_packages(), PACKAGE_ROOT])
    result = write()
    say(f"runs {len(result)} notebooks")
    run(
        [VENV / "bin" / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbmake",
         "--nbmake-timeout=300", "--rootdir", FOLDER, "-c", "/dev/null", *result],
        cwd=FOLDER,
    )  # fmt: skip
    say(f"the notebooks: {FOLDER}")
