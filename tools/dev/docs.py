"""`./dev docs`: builds the documentation site, with the support matrix and the API reference, in build/docs/site."""

import os
import re
import shutil
from pathlib import Path

from dev.build import site_packages
from dev.paths import BUILD, PACKAGE_ROOT, PYTHON, ROOT
from dev.run import run, say
from dev.side_venv import make_side_venv

VENV = ROOT / ".venv-docs"
PACKAGES = ["sphinx==9.0.4", "myst-parser==5.2.0", "furo==2025.12.19"]
SOURCE = BUILD / "docs" / "source"
SITE = BUILD / "docs" / "site"
# Documents outside of docs/ that are pages of the site.
PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "softnpu/README.md": "softnpu.md",
    "softnpu/fusion/README.md": "fusion.md",
    "torch_npu/csrc/README.md": "plugin.md",
}
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([^)#]+)(#[^)]*)?\)")


def page(text: str, folder: Path, root: Path = ROOT) -> str:
    """The page of a document in ``folder``: links to documents become links to pages, others become text."""
    # Folders of docs/ are the site's; every other document's page is at the top.
    docs_folder = root / "docs"
    here = folder.relative_to(docs_folder) if folder.is_relative_to(docs_folder) else Path()

    def link(match: re.Match[str]) -> str:
        shown, linked, anchor = match[1], match[2], match[3] or ""
        target = (folder / linked).resolve()
        name = target.relative_to(root).as_posix() if target.is_relative_to(root) else linked
        on_site = name.removeprefix("docs/") if name.startswith("docs/") else PAGES.get(name)
        return shown if on_site is None else f"[{shown}]({os.path.relpath(on_site, here)}{anchor})"

    return _LINK.sub(link, text)


def stage(source: Path = SOURCE, root: Path = ROOT) -> None:
    """Writes the pages that Sphinx reads: docs/ and the documents of ``PAGES``."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("conf.py", "tables.css"):
        shutil.copy(root / "docs" / name, source)
    for document in (root / "docs").rglob("*.md"):
        target = source / document.relative_to(root / "docs")
        target.parent.mkdir(exist_ok=True)
        target.write_text(page(document.read_text(), document.parent, root))
    for name, target in PAGES.items():
        document = root / name
        (source / target).write_text(page(document.read_text(), document.parent, root))


def docs() -> None:
    """Builds the site; a warning is an error."""
    make_side_venv(VENV, PACKAGES, [site_packages(), PACKAGE_ROOT])
    stage()
    yaml = ROOT / "torch_npu" / "csrc" / "aten" / "npu_native_functions.yaml"
    run([PYTHON, "-m", "codegen.support", "--yaml", yaml, "--output", SOURCE], cwd=ROOT)
    say("sphinx")
    sphinx = [VENV / "bin" / "python", "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    run([*sphinx, SOURCE, SITE])
    say(f"the site: {SITE / 'index.html'}")
