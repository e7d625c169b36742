"""Finds draws that the CPU accepts, for operators without another sample: ``python -m versions.search``.

Each operator is tried in a process of its own, since kernels that no program calls check little.
"""

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator

from versions.calls import FOUND, Calls
from versions.draw import draw
from versions.observe import observe
from versions.recorded import Given
from versions.schemas import Overload, has_kernel, mutable

_TRIES = 200
# What an error says, and the reason for which the operator has no sample.
_REASONS = (
    ("Could not run", "the CPU has no kernel for what it calls"),
    ("quantized dtype", "for quantized tensors"),
    ("sparse", "for sparse tensors"),
    ("mkldnn", "for oneDNN's tensors"),
    ("Storage", "takes a storage"),
)
_HEAD = "# The number of a draw that the CPU accepts, or why none is known. Written by `python -m versions.search`.\n"


def _accepted(function: Overload, candidates: Iterator[Given]) -> tuple[int | None, str]:
    """The index of the first candidate that the CPU accepts, or the last error."""
    last = "nothing has its signature"
    for index, given in enumerate(candidates):
        try:
            observe(function, given, "cpu")
        except Exception as error:
            last = str(error)
        else:
            return index, ""
    return None, last


def _draws(function: Overload) -> Iterator[Given]:
    try:
        for number in range(_TRIES):
            yield draw(function, number)
    except KeyError:
        return


def _in_child(work: Callable[[], object]) -> object:
    """The result of ``work``; None if the process died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, pickle.dumps(work()))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def _reason(error: str) -> str:
    """Why an operator has no sample, by the last error."""
    known = next((reason for text, reason in _REASONS if text in error), None)
    first = next(iter(error.splitlines()), "").replace("\t", " ")
    return known or f"the CPU refuses what is drawn: {first[:100]}"


def search(function: Overload, calls: Calls) -> str | None:
    """The text of the operator's line; None where it needs none."""
    if not has_kernel(function, "CPU"):
        return "the CPU has no kernel"
    known = _in_child(lambda: _accepted(function, calls.known(function)))
    if known is not None and known[0] is not None:
        return None
    drawn = _in_child(lambda: _accepted(function, _draws(function)))
    if drawn is None:
        return "the CPU's kernel crashes where arguments are drawn"
    number, error = drawn
    if number is None:
        return _reason(error)
    alone = _in_child(lambda: _accepted(function, iter([draw(function, number)])))
    return str(number) if alone == (0, "") else "the CPU's kernel crashes where arguments are drawn"


def main() -> int:
    """Writes the file."""
    warnings.simplefilter("ignore")
    calls = Calls()
    lines = []
    for namespace in ("aten", "npu"):
        for function in mutable(namespace):
            if (text := search(function, calls)) is not None:
                lines.append(f"{function.name()}\t{text}\n")
    FOUND.write_text(_HEAD + "".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
