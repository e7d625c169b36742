"""Compares the entries of ``custom`` with the official operators, and finds those that no entry implements."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchgen.model import Argument as SchemaArgument
from torchgen.model import Arguments, parse_returns

from codegen.calls import EntryError, errors_in
from codegen.custom import python_argument, python_returns
from codegen.model import CustomArgument, CustomEntry, CustomOperator, OfficialOperator

_NUMBER = re.compile(r"=(-?[\d.]+(?:e[-+]?\d+)?)")


def _normal(schema: str) -> str:
    """The schema with one spelling of numbers and texts."""

    def number(match: re.Match[str]) -> str:
        return f"={float(match[1])!r}"

    return _NUMBER.sub(number, schema.replace("'", '"'))


def check(entry: CustomEntry, operator: CustomOperator, official: OfficialOperator) -> None:
    """Raises EntryError where an entry has another schema than the official operator of its name, or other publicity."""
    ours, theirs = _normal(f"npu::{operator.schema}"), _normal(official.schema)
    if ours != theirs:
        raise EntryError(
            entry.line,
            f"'{entry.func}' has another schema than {official.family}.tsv says: {official.schema}",
        )
    if entry.is_exposed != ("public" in official.words):
        raise EntryError(
            entry.line,
            f"'exposed' of '{entry.func}' is {str(entry.is_exposed).lower()}: {official.family}.tsv says otherwise",
        )


def check_entries(
    entries: Sequence[CustomEntry],
    operators: Sequence[CustomOperator],
    schemas: Sequence[OfficialOperator],
) -> None:
    """Raises EntryError where an entry differs from the official operator of its name."""
    by_name = {o.name: o for o in schemas if o.namespace == "npu"}
    for entry, operator in zip(entries, operators, strict=True):
        with errors_in(entry.file):
            if official := by_name.get(operator.name):
                if "by_hand" in official.words:
                    raise EntryError(
                        entry.line, f"'{entry.func}' is by_hand in {official.family}.tsv"
                    )
                check(entry, operator, official)


def without_entry(
    operators: Sequence[CustomOperator], schemas: Sequence[OfficialOperator]
) -> Iterator[OfficialOperator]:
    """The official operators that no entry implements, those by hand among them."""
    there = {operator.name for operator in operators}
    for official in schemas:
        if official.namespace != "npu" or official.name not in there:
            yield official


def arguments_of(official: OfficialOperator) -> tuple[CustomArgument, ...]:
    """The arguments as Python sees them."""
    found = Arguments.parse(official.arguments)
    keyword_only = {a.name for a in (*found.flat_kwarg_only, *found.out)}
    flat: list[SchemaArgument] = [*found.flat_non_out, *found.out]
    return tuple(
        replace(python_argument(a, a.name in keyword_only), python_name=a.name) for a in flat
    )


def returns_of(official: OfficialOperator) -> str:
    """The type of what it returns, in Python."""
    if official.returns in ("()", "NoneType"):
        return "None"
    return python_returns(parse_returns(official.returns))
