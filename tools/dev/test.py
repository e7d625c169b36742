"""`./dev test`: runs CI's tests; `--full` all of them, `--part` one part, paths the named tests."""

import argparse
import time

from dev.build import build
from dev.command_line import Parser
from dev.files import commit_count
from dev.parts import (
    CASE_SHARDS,
    EVERY,
    IN_TURN,
    SHARES,
    Part,
    Rotation,
    by_word,
    chosen,
    suite,
    words,
)
from dev.paths import BUILD, ROOT
from dev.pytests import NO_DEVICE, pytest, without_device
from dev.run import DevError, say
from dev.torch_versions import VERSIONS, run_tests


def arguments(parser: Parser) -> None:
    """Adds the arguments of `./dev test`."""
    lines = [f"  {part.word:11} {part.what}" for part in (*EVERY, *IN_TURN)]
    parser.epilog = "parts:\n" + "\n".join(lines)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="test files, as pytest takes them")
    parser.add_argument("--full", action="store_true", help="every part, every case")
    parser.add_argument(
        "--part", action="append", choices=words(), metavar="WORD", help="a part alone, whole"
    )
    parser.add_argument("--rotation", type=int, help="the rotating part of that number")
    parser.add_argument(
        "--torch",
        choices=VERSIONS,
        metavar="V",
        help=f"the plug-in built for another torch ({', '.join(VERSIONS[1:])}), and its tests or the PATHs",
    )
    parser.add_argument("-k", metavar="EXPRESSION", help="the tests that match, as pytest's -k")
    parser.add_argument("-x", action="store_true", help="ends with the first failure")
    parser.add_argument("-n", type=int, metavar="N", help="processes; 0 is this one")
    parser.add_argument("--shard", metavar="I/N", help="the I-th of N parts of operators' cases")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="the tests in random order")


def _selected(options: argparse.Namespace) -> None:
    for path in options.paths:
        if not (ROOT / path.split("::")[0]).exists():
            raise DevError(f"there is no {path.split('::')[0]}")
    chosen_options = [option for option in ("-x",) if options.x]
    for name in ("k", "shard", "shuffle"):
        if (value := getattr(options, name)) is not None:
            chosen_options += ["-k" if name == "k" else f"--{name}", str(value)]
    if options.torch:
        run_tests(options.torch, options.paths, chosen_options)
        return
    if options.paths and all(path.startswith(NO_DEVICE) for path in options.paths):
        without_device([*options.paths, *chosen_options])
        return
    build()
    pytest({}, [*(options.paths or suite()), *chosen_options], options.n)


def _table(rows: list[tuple[Part, float, str]]) -> str:
    width = max(len(part.what) for part, _, _ in rows)
    lines = [f"{'part':11} {'':{width}}  seconds  outcome"]
    lines += [
        f"{part.word:11} {part.what:{width}}  {seconds:7.0f}  {outcome}"
        for part, seconds, outcome in rows
    ]
    return "\n".join(lines)


def run_parts(parts: list[Part], rotation: Rotation) -> None:
    """Runs ``parts`` one after another; the others run even if one fails, except after a failed build.

    Raises DevError, after the table of all parts, if one failed.
    """
    rows: list[tuple[Part, float, str]] = []
    failures = []
    for part in parts:
        say(f"{part.word}: {part.what}")
        started = time.monotonic()
        outcome = "passed"
        try:
            part.run(rotation)
        except DevError as error:
            outcome = "FAILED"
            failures.append(f"{part.word}: {error}")
            say(f"{part.word} FAILED: {error}")
        rows.append((part, time.monotonic() - started, outcome))
        if outcome != "passed" and part.word == "build":
            break
    print(_table(rows))
    if failures:
        raise DevError("\n".join(failures))


def test(options: argparse.Namespace) -> None:
    """Runs the parts or tests that the options select.

    Raises DevError if a part fails, or if options exclude each other.
    """
    named = options.paths or options.k or options.shard or options.torch
    selects = bool(named or options.shuffle is not None)
    if selects + options.full + bool(options.part) > 1:
        raise DevError("takes paths, --full or --part, not two of them")
    if selects:
        _selected(options)
        return
    BUILD.mkdir(exist_ok=True)
    number = commit_count() if options.rotation is None else options.rotation
    rotation = Rotation(number, full=options.full)
    if options.part:
        parts = [by_word(word) for word in options.part]
        if parts[0].word not in {"lint", "build", "generators"}:
            build()
        # A single part is complete, unless a rotation is named.
        run_parts(parts, Rotation(number, full=options.rotation is None))
        return
    row = "all parts" if rotation.full else ", ".join(SHARES[number % len(SHARES)])
    say(f"rotation {number}: {row}; operators' cases {rotation.share(CASE_SHARDS)}")
    run_parts(chosen(rotation), rotation)
