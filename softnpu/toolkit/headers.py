"""The headers of ``aclnnop/`` as programs include them: one for each family of operators."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from softnpu.opgen.emit import prototypes
from softnpu.opgen.model import Operator, header_of

_PREFIX = "aclnn"


class HeaderError(ValueError):
    """A name of headers.txt that no table has; the text names file and line."""


def read_names(path: Path) -> dict[str, list[tuple[str, str]]]:
    """headers.txt: the name of a header to its functions, each with the place that names it."""
    names: dict[str, list[tuple[str, str]]] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        if words and not line.startswith("#"):
            names[words[0]] = [(word, f"{path}:{number}") for word in words[1:]]
    return names


def _family(name: str) -> list[str]:
    """The functions of one family: with a tensor, with a number, and both in place."""
    return [name, f"{name}s", f"Inplace{name}", f"Inplace{name}s"]


def headers(
    operators: Iterable[Operator], names: Mapping[str, list[tuple[str, str]]]
) -> dict[str, str]:
    """The text of each header by its name.

    Args:
        operators: all operators of all tables.
        names: the headers of other names, as read_names() returns them.

    Raises:
        HeaderError: a function of ``names`` is in no table.
    """
    known = {operator.name.removeprefix(_PREFIX): operator for operator in operators}
    members = {
        header_of(_PREFIX + name): [known[m] for m in _family(name) if m in known] for name in known
    }
    for header, functions in names.items():
        own = members.setdefault(header, [])
        for function, location in functions:
            if function not in known:
                raise HeaderError(f"{location}: no table has aclnn{function}")
            if known[function] not in own:
                own.append(known[function])
    return {header: prototypes(own) for header, own in members.items()}
