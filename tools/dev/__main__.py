"""Entry point of `./dev`."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext

from dev import api, bench, cross, docs, fuzz, gen, quick, test
from dev.abi import abi
from dev.build import build
from dev.clients import CLIENTS, clients
from dev.command_line import Parser, Verb, suggestion
from dev.environment import environment
from dev.install_trial import arguments as install_trial_arguments
from dev.install_trial import install_trial
from dev.lint import fmt, lint
from dev.lock import locked
from dev.notebooks import notebooks
from dev.operators import operators
from dev.oracle import oracle
from dev.paths import BUILD, PACKAGE_ROOT, PYTHON, ROOT
from dev.run import DevError, run, say
from dev.setup import ensure, setup
from dev.stubs import stubs
from dev.wheel import wheel


def _build(_: argparse.Namespace) -> None:
    ensure()
    build()


def _cross(options: argparse.Namespace) -> None:
    ensure()
    cross.cross(options)


def _demo(_: argparse.Namespace) -> None:
    ensure()
    build()
    run([PYTHON, ROOT / "examples" / "demo.py"], env={"HF_HUB_OFFLINE": "1"})


def _bench(options: argparse.Namespace) -> None:
    bench.check(options)
    if options.suites[:1] not in ([bench.COMPARE], [bench.GATE], [bench.TABLES]):
        ensure()
        build()
    bench.bench(options)


def _test(options: argparse.Namespace) -> None:
    ensure()
    test.test(options)


def _quick(options: argparse.Namespace) -> None:
    ensure()
    quick.quick(options)


def _fuzz(options: argparse.Namespace) -> None:
    ensure()
    build()
    fuzz.verb(options)


def _lint(_: argparse.Namespace) -> None:
    ensure()
    lint()


def _fmt(_: argparse.Namespace) -> None:
    ensure()
    fmt()


def _api(options: argparse.Namespace) -> None:
    ensure()
    build()
    api.api(options)


def _gen(options: argparse.Namespace) -> None:
    ensure()
    gen.gen(options)


def _oracle_arguments(parser: Parser) -> None:
    parser.add_argument("-k", metavar="EXPRESSION", help="the tests that match, as pytest's -k")
    parser.add_argument("-x", action="store_true", help="ends with the first failure")


def _oracle(options: argparse.Namespace) -> None:
    ensure()
    expression = ["-k", options.k] if options.k else []
    oracle([*expression, *(["-x"] if options.x else [])])


def _clients_arguments(parser: Parser) -> None:
    parser.add_argument(
        "clients", nargs="*", metavar="CLIENT", choices=[[], *CLIENTS], help=" or ".join(CLIENTS)
    )
    _oracle_arguments(parser)


def _clients(options: argparse.Namespace) -> None:
    ensure()
    expression = ["-k", options.k] if options.k else []
    clients(options.clients, [*expression, *(["-x"] if options.x else [])])


def _wheel(_: argparse.Namespace) -> None:
    ensure()
    wheel()


def _docs(options: argparse.Namespace) -> None:
    ensure()
    docs.docs(options)


def _notebooks(_: argparse.Namespace) -> None:
    ensure()
    build()
    notebooks()


def _stubs(_: argparse.Namespace) -> None:
    ensure()
    build()
    stubs()


def _doctor(_: argparse.Namespace) -> None:
    if not PYTHON.exists():
        raise DevError("there is no .venv yet: run ./dev setup")
    if not (PACKAGE_ROOT / "torch_npu" / "_C.so").exists():
        raise DevError("nothing is built yet: run ./dev build")
    run([PYTHON, "-m", "torch_npu", "doctor"])


VERBS = {
    "setup": Verb(lambda _: setup(), "installs system packages (apt-get), .venv, Python packages"),
    "build": Verb(_build, "builds what changed", needs_build=True),
    "cross": Verb(
        _cross,
        "builds softnpu and its C++ tests for aarch64, in build-aarch64/",
        cross.arguments,
        needs_build=True,
    ),
    "quick": Verb(
        _quick,
        "what a change broke, in under five minutes: checks, build, the tests that it touches",
        quick.arguments,
        needs_build=True,
    ),
    "test": Verb(_test, "build and tests, as CI runs them", test.arguments, needs_build=True),
    "fuzz": Verb(
        _fuzz,
        "random calls of every operator, npu against the CPU; a table of compared draws",
        fuzz.arguments,
        needs_build=True,
    ),
    "demo": Verb(
        _demo,
        "build, then classify photographs, train, compare sentences on npu",
        needs_build=True,
    ),
    "bench": Verb(_bench, "npu against CPU, as ratios", bench.arguments, needs_build=True),
    "lint": Verb(_lint, "ruff, clang-format, clang-tidy, layers, documents", needs_build=True),
    "fmt": Verb(_fmt, "formats in place"),
    "docs": Verb(
        _docs, "the documents as a site in build/docs/site", docs.arguments, needs_build=True
    ),
    "notebooks": Verb(
        _notebooks, "pages of docs/ as notebooks in build/notebooks, each run", needs_build=True
    ),
    "environment": Verb(
        lambda _: environment(), "writes docs/environment.md from the package's table of variables"
    ),
    "stubs": Verb(_stubs, "writes the types of torch_npu._C from the module", needs_build=True),
    "abi": Verb(lambda _: abi(), "writes docs/acl.md from softnpu/abi's tables"),
    "gen": Verb(_gen, "runs codegen and shows what it wrote", gen.arguments, needs_build=True),
    "api": Verb(
        _api,
        "how much of the official Python API there is, by module, and what is missing",
        api.arguments,
        needs_build=True,
    ),
    "operators": Verb(
        lambda _: operators(), "the aclnn operators that the tests ran, by data type and layout"
    ),
    "oracle": Verb(
        _oracle,
        "the official torch_npu wheel on softnpu, in .venv-oracle",
        _oracle_arguments,
        needs_build=True,
    ),
    "clients": Verb(
        _clients,
        "other projects' official wheels for CANN on softnpu, each in an environment of its own",
        _clients_arguments,
        needs_build=True,
    ),
    "wheel": Verb(_wheel, "a self-contained wheel in dist/", needs_build=True),
    "install-trial": Verb(
        install_trial,
        "installs the committed sources with pip in a new Debian 12 or 13, step by step (as root)",
        install_trial_arguments,
    ),
    "doctor": Verb(_doctor, "what is bound, and what is missing"),
}


def usage() -> str:
    """The verbs, one per line."""
    lines = [f"  {name:13} {verb.help}" for name, verb in VERBS.items()]
    return "\n".join(
        ("usage: ./dev VERB [arguments]   (./dev VERB --help: the arguments)", "", *lines)
    )


def main(arguments: Sequence[str]) -> int:
    """Runs a verb; 0 if it succeeded, 1 if it failed, 2 if the call was wrong."""
    name = arguments[0] if arguments else ""
    if name in ("", "help", "--help", "-h"):
        print(usage())
        return 0 if name else 2
    if name not in VERBS:
        print(
            f"./dev: unknown verb '{name}'{suggestion(name, VERBS)}\n(usage: ./dev --help)",
            file=sys.stderr,
        )
        return 2
    verb = VERBS[name]
    options = verb.parser(name).read(arguments[1:], VERBS)
    started = time.monotonic()
    os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    try:
        with locked(BUILD, f"./dev {name}") if verb.needs_build else nullcontext():
            verb.run(options)
    except DevError as error:
        print(f"./dev {name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    if name != "doctor":
        say(f"{name} done in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
