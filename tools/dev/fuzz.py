"""`./dev fuzz`: random calls of every operator with an aclnn entry, npu against the CPU (tests/fuzz)."""

import argparse

from dev.command_line import Parser
from dev.paths import PYTHON, ROOT
from dev.run import run

# Memory of the device: both sides refuse a call that needs more.
MEMORY = "1G"


def arguments(parser: Parser) -> None:
    """Adds the arguments of `./dev fuzz`."""
    parser.add_argument(
        "--minutes",
        type=float,
        help="how long; pairs of operator and data type with the fewest draws first, each has to get 200",
    )
    parser.add_argument(
        "--draws", type=int, help="of each pair, without --minutes: the same ones for the same seed"
    )
    parser.add_argument("--operators", metavar="REGEX", default="", help="of these operators only")
    parser.add_argument("--seed", type=int, default=0, help="the first draw of each pair")
    parser.add_argument(
        "--replay", metavar="OPERATOR:DTYPE:SEED", help="one draw, as a failure names it"
    )


def fuzz(
    *,
    minutes: float | None = None,
    draws: int | None = None,
    operators: str = "",
    seed: int = 0,
    replay: str | None = None,
) -> None:
    """Runs the draws; raises DevError if two results differ, or if a pair was compared too seldom."""
    words = ["--operators", operators, "--seed", str(seed)]
    for name, value in (("minutes", minutes), ("draws", draws), ("replay", replay)):
        words += [] if value is None else [f"--{name}", str(value)]
    run(
        [PYTHON, "-W", "ignore", "-m", "fuzz", *words],
        cwd=ROOT / "tests",
        env={"OMP_NUM_THREADS": "1", "SOFTNPU_HBM": MEMORY},
        hint="the differing draws are in build/fuzz/failures.json; ./dev fuzz --replay runs one",
    )


def verb(options: argparse.Namespace) -> None:
    """Runs `./dev fuzz` with its options."""
    fuzz(
        minutes=options.minutes,
        draws=options.draws,
        operators=options.operators,
        seed=options.seed,
        replay=options.replay,
    )
