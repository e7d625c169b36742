"""The command line of `./dev`: one parser per verb, and a suggestion for a misspelled word."""

import argparse
import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn


def suggestion(word: str, known: Iterable[str]) -> str:
    """``: did you mean 'x'?`` for the closest of ``known``, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f": did you mean '{close[0]}'?" if close else ""


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations; an unknown word is an error that names the closest known one."""

    def __init__(self, prog: str, description: str) -> None:
        """Makes a parser of ``prog``, whose help begins with ``description``."""
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        """Ends the program with exit code 2 and one sentence."""
        self.exit(2, f"{self.prog}: {message}\n(usage: {self.prog} --help)\n")

    def read(self, arguments: Sequence[str], verbs: Iterable[str]) -> argparse.Namespace:
        """Parses ``arguments``; an unknown word is also compared with ``verbs``, the other verbs."""
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            word = unknown[0]
            if word in verbs:
                self.error(f"takes no argument '{word}'; one verb a call: ./dev {word}")
            names = [name for action in self._actions for name in action.option_strings]
            self.error(f"unknown argument '{word}'{suggestion(word.split('=')[0], names)}")
        return options


def no_arguments(_: Parser) -> None:
    """For a verb without arguments."""


@dataclass(frozen=True)
class Verb:
    """One verb: its help, its arguments, its function, and whether it needs exclusive access to build/."""

    run: Callable[[argparse.Namespace], None]
    help: str
    arguments: Callable[[Parser], None] = no_arguments
    needs_build: bool = False

    def parser(self, name: str) -> Parser:
        """The parser of `./dev name`."""
        result = Parser(f"./dev {name}", self.help)
        self.arguments(result)
        return result
