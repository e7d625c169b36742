"""`./dev docs`: builds the documentation site, with the support matrix and the API reference, in build/docs/site.

Sphinx reads the checkout itself (`docs/conf.py` says which files), so that links between documents are those that a reader of
the sources follows.
"""

import argparse

from dev.build import build, site_packages
from dev.command_line import Parser
from dev.paths import BUILD, PACKAGE_ROOT, PYTHON, ROOT
from dev.run import run, say
from dev.side_venv import make_side_venv

VENV = ROOT / ".venv-docs"
PACKAGES = ["sphinx==9.0.4", "myst-parser==5.2.0", "furo==2025.12.19"]
# What docs/support.md includes.
GENERATED = BUILD / "docs" / "generated"
# The operators of namespace npu, a page a family: part of the checkout.
PAGES = ROOT / "docs" / "npu_operators"
SITE = BUILD / "docs" / "site"


def arguments(parser: Parser) -> None:
    """Adds the arguments of `./dev docs`."""
    parser.add_argument(
        "--pages",
        action="store_true",
        help="only writes docs/npu_operators, after a change of entries",
    )


def docs(options: argparse.Namespace) -> None:
    """Writes the pages of families, and builds the site; a warning is an error."""
    yaml = ROOT / "torch_npu" / "csrc" / "aten" / "npu_native_functions.yaml"
    folders = ["--output", GENERATED, "--pages", PAGES]
    run([PYTHON, "-m", "codegen.support", "--yaml", yaml, *folders])
    if options.pages:
        return
    build()
    make_side_venv(VENV, PACKAGES, [site_packages(), PACKAGE_ROOT])
    say("sphinx")
    sphinx = [VENV / "bin" / "python", "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    run([*sphinx, "-c", ROOT / "docs", "-d", BUILD / "docs" / "doctrees", ROOT, SITE])
    say(f"the site: {SITE / 'docs' / 'index.html'}")
