"""Entry point of `./dev`."""

import os
import sys
import time
from collections.abc import Callable

from dev.abi import abi
from dev.build import build
from dev.gen import gen
from dev.lint import fmt, lint
from dev.operators import operators
from dev.oracle import oracle
from dev.paths import PYTHON, ROOT
from dev.peers import interpreter
from dev.run import DevError, run, say
from dev.setup import setup
from dev.test import test
from dev.wheel import wheel


def _setup(_: list[str]) -> None:
    setup()


def _build(_: list[str]) -> None:
    setup()
    build()


def _test(arguments: list[str]) -> None:
    setup()
    test(arguments)


def _demo(arguments: list[str]) -> None:
    _build([])
    run([PYTHON, ROOT / "examples" / "demo.py", *arguments], env={"HF_HUB_OFFLINE": "1"})


def _bench(arguments: list[str]) -> None:
    if not {"-h", "--help"}.intersection(arguments):
        _build([])
    run([interpreter(arguments), ROOT / "bench" / "run.py", *arguments])


def _lint(_: list[str]) -> None:
    setup()
    lint()


def _fmt(_: list[str]) -> None:
    setup()
    fmt()


def _abi(_: list[str]) -> None:
    abi()


def _gen(arguments: list[str]) -> None:
    setup()
    gen(arguments)


def _operators(_: list[str]) -> None:
    operators()


def _wheel(_: list[str]) -> None:
    setup()
    wheel()


def _doctor(_: list[str]) -> None:
    if not PYTHON.exists():
        raise DevError("there is no .venv yet: run ./dev setup")
    run([PYTHON, "-m", "torch_npu.utils.doctor"])


def _oracle(arguments: list[str]) -> None:
    setup()
    oracle(arguments)


VERBS: dict[str, tuple[Callable[[list[str]], None], str]] = {
    "setup": (_setup, "system packages, .venv, Python packages; goes on where it stopped"),
    "build": (_build, "set-up and build"),
    "test": (
        _test,
        "set-up, build and tests; --all: every OpInfo and ModuleInfo case; or pytest arguments",
    ),
    "demo": (_demo, "set-up, build, then classify photographs, train, compare sentences on npu"),
    "bench": (_bench, "npu against CPU, as ratios"),
    "lint": (_lint, "ruff, clang-format, layers"),
    "fmt": (_fmt, "format in place"),
    "abi": (_abi, "docs/acl.md from softnpu/abi's tables"),
    "gen": (
        _gen,
        "runs codegen and shows what it wrote; --update-goldens: also what its tests compare with",
    ),
    "operators": (_operators, "the aclnn operators that the tests ran, by data type and layout"),
    "oracle": (_oracle, "the official torch_npu wheel on softnpu, in .venv-oracle"),
    "wheel": (_wheel, "a self-contained wheel in dist/"),
    "doctor": (_doctor, "what is bound, and what is missing"),
}


def main(arguments: list[str]) -> int:
    """Runs a verb; 0 where it succeeded, 1 where it failed, 2 where the call was wrong."""
    if not arguments or arguments[0] not in VERBS:
        print("usage: ./dev VERB [arguments]\n")
        for name, (_, text) in VERBS.items():
            print(f"  {name:8} {text}")
        return 0 if arguments in (["help"], ["--help"], ["-h"]) else 2
    started = time.monotonic()
    os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    try:
        VERBS[arguments[0]][0](arguments[1:])
    except DevError as error:
        print(f"./dev {arguments[0]}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    if arguments[0] not in {"doctor"}:
        say(f"{arguments[0]} done in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
