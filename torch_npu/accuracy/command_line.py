"""``torch-npu compare``: compares two saved results, element by element."""

import argparse
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch

from torch_npu.accuracy.comparison import Comparison, compare
from torch_npu.accuracy.dtypes import largest_finite
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.tables import table
from torch_npu.accuracy.tolerance import Tolerance, tolerance_of

# The name of a result that is the whole file.
WHOLE = "tensor"


class InputError(ValueError):
    """The files cannot be compared; the text says why."""


def _content(path: Path) -> object:
    """What a file has: that of ``numpy.save``, if it ends in .npy, or of ``torch.save``, on the CPU."""
    is_array = path.suffix == ".npy"
    try:
        if is_array:
            import numpy as np  # only here: torch works without it

            return torch.from_numpy(np.load(path, allow_pickle=False))
        return torch.load(path, map_location="cpu", weights_only=True)
    except ImportError:
        raise InputError(f"{path}: files of numpy.save need numpy (pip install numpy)") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (RuntimeError, ValueError, TypeError, EOFError, LookupError, pickle.PickleError):
        wanted = "array of numbers" if is_array else "tensor, and no dict or list of tensors,"
        saved = "numpy.save" if is_array else "torch.save"
        raise InputError(f"{path}: no {wanted} of {saved}") from None


def _leaves(value: object, name: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        listed = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list | tuple):
        listed = [(str(number), inner) for number, inner in enumerate(value)]
    else:
        yield name or WHOLE, value
        return
    for key, inner in listed:
        yield from _leaves(inner, f"{name}.{key}" if name else key)


def load(path: Path) -> dict[str, torch.Tensor]:
    """The tensors and numbers of a file by name: keys and numbers of nested dicts and lists with dots between them.

    Args:
        path: a file of ``torch.save`` with a tensor, or with dicts, lists and tuples of tensors; or one of ``numpy.save``
            that ends in .npy.

    Raises:
        InputError: the file cannot be read, or has no tensor. Text and None beside tensors are left out.
    """
    found = {}
    has_tensors = False
    for name, value in _leaves(_content(path), ""):
        has_tensors |= isinstance(value, torch.Tensor)
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, bool | int | float | complex):
            dtype = torch.float64 if isinstance(value, float) else None
            found[name] = torch.tensor(value, dtype=dtype)
    if not has_tensors:
        raise InputError(f"{path}: it has no tensor")
    return found


def _check_names(paths: Sequence[Path], names: Sequence[set[str]]) -> None:
    only = [
        f"only {path} has {', '.join(sorted(own - other))}"
        for path, own, other in zip(paths, names, names[::-1], strict=True)
        if own - other
    ]
    if only:
        raise InputError(f"the names differ: {'; '.join(only)}")


def _tolerance(
    options: argparse.Namespace, expected: torch.Tensor, dtype: torch.dtype
) -> Tolerance:
    if options.rtol is not None or options.atol is not None:
        return Tolerance(options.rtol or 0.0, options.atol or 0.0)
    kind = Kind[options.kind.upper()]
    magnitude = None if kind is Kind.ELEMENTWISE else largest_finite(expected)
    return tolerance_of(kind, dtype, terms=options.terms, magnitude=magnitude)


def _compared(options: argparse.Namespace) -> dict[str, Comparison]:
    paths = [options.actual, options.expected]
    actual, expected = map(load, paths)
    _check_names(paths, [set(actual), set(expected)])
    try:
        return {
            name: compare(result, expected[name], _tolerance(options, expected[name], result.dtype))
            for name, result in actual.items()
        }
    except TypeError as error:
        raise InputError(str(error)) from None


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no positive number")
    return int(text)


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description="Compares two saved results element by element. Exit code 1: one differs; 2: they cannot be compared.",
        epilog="Without --rtol and --atol an element may differ by the roundings of its data type, counted by --kind and "
        "--terms at the size of the largest element: torch_npu.accuracy.tolerance_of has the formulas.",
    )
    files = "of torch.save (a tensor, or dicts and lists of tensors), or .npy"
    parser.add_argument("actual", type=Path, help=f"the result: {files}")
    parser.add_argument("expected", type=Path, help="the reference; may be in float64")
    parser.add_argument(
        "--kind",
        choices=[kind.name.lower() for kind in Kind],
        default="composed",
        help="what computed the result; default: composed, several operators",
    )
    parser.add_argument(
        "--terms",
        type=_positive,
        default=1,
        help="terms of a sum or product, or roundings in sequence; default: 1",
    )
    parser.add_argument("--rtol", type=float, help="allowed difference relative to the reference")
    parser.add_argument("--atol", type=float, help="allowed absolute difference")
    return parser


def main(arguments: Sequence[str], program: str) -> int:
    """Prints a table of the comparisons.

    Args:
        arguments: behind the command's name.
        program: the command's name, for messages.

    Returns:
        0 where all results are close, 1 where one differs, 2 where they cannot be compared.
    """
    options = _parser(program).parse_args(arguments)
    try:
        found = _compared(options)
    except InputError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    differing = sum(not comparison.is_close for comparison in found.values())
    print(table(found))
    print(f"{differing} of {len(found)} results differ")
    return int(differing > 0)
