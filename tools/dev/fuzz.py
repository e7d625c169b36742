"""`./dev fuzz`: random calls of every operator with an aclnn entry, npu against the CPU (tests/fuzz)."""

import argparse

from dev.command_line import Parser
from dev.paths import PYTHON, ROOT
from dev.run import run


def arguments(parser: Parser) -> None:
    """What `./dev fuzz` takes."""
    parser.add_argument(
        "--minutes", type=float, help="how long; without it a fixed number of draws"
    )
    parser.add_argument("--operators", metavar="REGEX", default="", help="of these operators only")
    parser.add_argument("--seed", type=int, default=0, help="the first draw of each operator")
    parser.add_argument("--replay", metavar="OPERATOR:SEED", help="one draw, as a failure names it")


def fuzz(minutes: float | None, operators: str = "", seed: int = 0, replay: str = "") -> None:
    """Runs the draws; raises DevError where two results differ, or where a pair was compared too seldom."""
    words = ["--operators", operators, "--seed", str(seed)]
    words += ["--minutes", str(minutes)] if minutes else []
    words += ["--replay", replay] if replay else []
    run(
        [PYTHON, "-W", "ignore", "-m", "fuzz", *words],
        cwd=ROOT / "tests",
        env={"OMP_NUM_THREADS": "1"},
        hint="the differing draws are in build/fuzz/failures.json; ./dev fuzz --replay runs one",
    )


def verb(options: argparse.Namespace) -> None:
    """`./dev fuzz` with its options."""
    fuzz(options.minutes, options.operators, options.seed, options.replay or "")
