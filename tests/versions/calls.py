"""Calls that the CPU accepts of every operator that writes an argument, or why none is known."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from versions.draw import draw
from versions.recorded import Given, record
from versions.samples import recorded_samples, with_outputs
from versions.schemas import Overload
from versions.written_here import samples

# Names with the number of a draw that the CPU accepts, or with the reason why none is known. `python -m versions.search`
# writes it.
FOUND = Path(__file__).parent / "recorded_calls.tsv"


@cache
def found() -> dict[str, str]:
    """The lines of the file by name."""
    lines = (
        row.split("\t", 1) for row in FOUND.read_text().splitlines() if not row.startswith("#")
    )
    return dict(lines)


class Calls:
    """The arguments of operators that write, by name."""

    def __init__(self) -> None:
        """Records PyTorch's cases, which takes seconds."""
        self._recorded = record()
        self._own = samples()

    def known(self, function: Overload) -> Iterator[Given]:
        """Those that are written in a table or recorded."""
        if (given := self._own.get(function.name().removeprefix("aten::"))) is not None:
            complete = with_outputs(function, given)
            return iter(() if complete is None else (complete,))
        return recorded_samples(function, self._recorded)

    def of(self, function: Overload) -> Iterator[Given]:
        """All; the CPU accepts one of them, unless `found` has a reason."""
        yield from self.known(function)
        number = found().get(function.name(), "")
        if number.isdigit():
            yield draw(function, int(number))
