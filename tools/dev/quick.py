"""`./dev quick`: tests what a change may have broken, in under five minutes."""

import argparse

from dev import tidy
from dev.build import build
from dev.command_line import Parser
from dev.files import changed, changed_since
from dev.impact import impact, split
from dev.lint import lint_files
from dev.parts import CLIENTS, ORACLE, PACKAGING
from dev.paths import ROOT
from dev.planted import planted
from dev.pytests import FUNCTIONS, gtest, pytest, without_device
from dev.run import say

# Run after any change: a tensor's life, dispatch, gradients, products, the saved form of a module.
SMOKE = (
    "tests/capability/test_device.py",
    "tests/capability/test_tensor.py",
    "tests/capability/test_matmul.py",
    "tests/capability/test_custom_ops.py",
    "tests/abi/test_conformance.py",
)
# One of this many operator cases runs, besides those of changed operators.
SMOKE_SHARE = 60
# clang-tidy checks at most this many sources.
MOST_TIDY = 8


def arguments(parser: Parser) -> None:
    """Adds the arguments of `./dev quick`."""
    parser.add_argument(
        "--since", metavar="REVISION", help="the change since then; default: what is not committed"
    )
    parser.add_argument(
        "--planted", action="store_true", help="plants faults, and sees whether each is found"
    )


def quick(options: argparse.Namespace) -> None:
    """Checks, builds and tests the changed files.

    Raises DevError if anything is broken.
    """
    if options.planted:
        planted()
        return
    name, paths = changed() if options.since is None else ("", changed_since(options.since))
    say(f"{len(paths)} changed files in {name or f'what changed since {options.since}'}")
    lint_files([ROOT / path for path in paths if (ROOT / path).is_file()])
    found = impact(paths)
    with_device, alone = split(found.tests)
    if alone:
        without_device(alone)
    build()
    if found.functions:
        gtest({}, FUNCTIONS)
    left_out = (PACKAGING, ORACLE, CLIENTS)
    tests = sorted({*SMOKE, *(t for t in with_device if not t.startswith(left_out))})
    cases = ["tests/opinfo", "tests/modules", "tests/aclnn"]
    pytest({}, [*tests, *cases, "--shard", f"1/{SMOKE_SHARE}", *_whole(tests, found.operators)])
    tidy.tidy(tidy.touched(paths)[:MOST_TIDY])


def _whole(tests: list[str], operators: set[str]) -> list[str]:
    """Options for the cases that run in every share."""
    options = [option for path in tests for option in ("--whole", path)]
    return options + [option for name in sorted(operators) for option in ("--operator", name)]
