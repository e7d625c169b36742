"""Dumps what operators and modules give, by step and rank, as statistics or tensors; compares two dumps.

A dump is a folder ``step<n>/rank<r>`` with ``dump.json`` and, of tensors, a file ``.pt`` each. Results are named by operator
and call, ``aten.mul.Tensor.3.forward.output.0``, or by module, ``Module.1.norm.LayerNorm.0.forward.output.0``.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as global_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torch_npu.accuracy.comparison import compare
from torch_npu.accuracy.dtypes import largest_finite, widened
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.location import Modules, location_of_operator
from torch_npu.accuracy.rows import Row, row_of
from torch_npu.accuracy.tolerance import tolerance_of

_FILE = "dump.json"
_UNDEFINED = ("empty", "new_empty", "resize_")


class DumpError(ValueError):
    """A folder that is no dump, or a damaged one; the text names it."""


@dataclass(frozen=True)
class Entry:
    """One result.

    Args:
        name: of the result.
        dtype: of the result.
        shape: of the result.
        statistics: max, min, mean and norm; NaN and infinity are null.
        terms: the roundings in sequence that may have led to it: the lengths of all operators' inputs so far.
        module: in which it was computed.
        location: the program's line.
        file: of the tensor; empty in dumps of statistics.
    """

    name: str
    dtype: str
    shape: list[int]
    statistics: dict[str, float | None]
    terms: int
    module: str
    location: str
    file: str


def _statistics(t: torch.Tensor) -> dict[str, float | None]:
    if not t.numel():
        return {}
    values = widened(t.detach().cpu())
    values = values.abs() if values.is_complex() else values
    values = values.double()
    found = {"max": values.max(), "min": values.min(), "mean": values.mean(), "norm": values.norm()}
    numbers = {name: float(value) for name, value in found.items()}
    return {name: x if math.isfinite(x) else None for name, x in numbers.items()}


def _rank() -> int:
    distributed = torch.distributed
    is_on = distributed.is_available() and distributed.is_initialized()
    return distributed.get_rank() if is_on else 0


class Dump(TorchDispatchMode):
    """Dumps operators and modules of this thread, and of the backward passes that it starts, while it is entered.

    Args:
        folder: where steps are written.
        tensors: also store the tensors themselves.
        operators: dump the results of ATen's operators, on any device.
        modules: dump the results of modules.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        tensors: bool = False,
        operators: bool = True,
        modules: bool = True,
    ) -> None:
        """Writes nothing until it is entered."""
        super().__init__()
        self._folder = Path(folder)
        self._tensors, self._operators, self._of_modules = tensors, operators, modules
        self._modules = Modules()
        self._hook: torch.utils.hooks.RemovableHandle | None = None
        self._step = 0
        self._begin_step()

    def _begin_step(self) -> None:
        self._entries: list[Entry] = []
        self._calls: dict[str, int] = {}
        self._terms = 0

    @property
    def _path(self) -> Path:
        return self._folder / f"step{self._step}" / f"rank{_rank()}"

    def __enter__(self) -> "Dump":
        """Starts; makes the folder."""
        self._path.mkdir(parents=True, exist_ok=True)
        if self._of_modules:
            self._hook = global_hooks.register_module_forward_hook(self._leave)
        self._modules.start()
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Writes the last step."""
        super().__exit__(*error)
        self._modules.stop()
        if self._hook is not None:
            self._hook.remove()
        if self._entries:
            self.step()

    def step(self) -> None:
        """Ends a step: writes its file, and begins the next one."""
        self._path.mkdir(parents=True, exist_ok=True)
        content = {"entries": [asdict(entry) for entry in self._entries], "tensors": self._tensors}
        (self._path / _FILE).write_text(json.dumps(content, indent=1))
        self._step += 1
        self._begin_step()

    def _add(
        self, prefix: str, direction: str, results: list[Any], module: str, location: str
    ) -> None:
        number = self._calls[prefix] = self._calls.get(prefix, -1) + 1
        for which, t in enumerate(results):
            name = f"{prefix}.{number}.{direction}.output.{which}"
            file = ""
            if self._tensors:
                file = f"{len(self._entries)}.pt"
                self._path.mkdir(parents=True, exist_ok=True)
                torch.save(t.detach().cpu(), self._path / file)
            dtype = str(t.dtype).removeprefix("torch.")
            values = _statistics(t)
            self._entries.append(
                Entry(name, dtype, list(t.shape), values, self._terms, module, location, file)
            )

    def _leave(self, module: torch.nn.Module, _: object, result: object) -> None:
        tensors = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        name = self._modules.current().partition(" (")
        prefix = ".".join(("Module", *([name[0]] if name[1] else []), type(module).__name__))
        with torch.utils._python_dispatch._disable_current_modes():
            self._add(prefix, "forward", tensors, name[0], location_of_operator()[0])

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> object:
        """Runs the operator, and dumps its results."""
        result = func(*args, **(kwargs or {}))
        if not self._operators or func.namespace != "aten":
            return result
        alias = [r.alias_info for r in func._schema.returns]
        is_view = any(a is not None and not a.is_write for a in alias)
        if is_view or func.__name__.startswith(_UNDEFINED):
            return result
        inputs = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        self._terms += max((max(t.shape, default=1) for t in inputs), default=1)
        location, is_backward = location_of_operator()
        module = "" if is_backward else self._modules.current()
        tensors = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        self._add(str(func), "backward" if is_backward else "forward", tensors, module, location)
        return result


def _read(folder: Path) -> dict[str, Entry]:
    path = folder / _FILE
    try:
        entries = [Entry(**entry) for entry in json.loads(path.read_text())["entries"]]
    except OSError as error:
        raise DumpError(
            f"{path}: cannot be read ({error.strerror}): is it a dump's step?"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise DumpError(f"{path}: is damaged; dump it again") from None
    return {entry.name: entry for entry in entries}


def _compared_statistics(entry: Entry, other: Entry) -> str:
    dtype = getattr(torch, entry.dtype)
    sizes = [abs(x) for x in other.statistics.values() if x is not None]
    for name, value in entry.statistics.items():
        expected = other.statistics.get(name)
        if value is None or expected is None:
            if value is not expected:
                return f"{name} is {value}, not {expected}"
            continue
        tolerance = tolerance_of(Kind.COMPOSED, dtype, terms=entry.terms, magnitude=max(sizes))
        bound = float(tolerance.bound(torch.tensor(expected, dtype=torch.float64)))
        if abs(value - expected) > bound:
            return (
                f"{name} is {value:.6g}, not {expected:.6g}; a difference of {bound:.3g} is allowed"
            )
    return ""


def _row(entry: Entry, other: Entry, ours: Path, theirs: Path) -> Row:
    if not (entry.file and other.file):
        problem = _compared_statistics(entry, other)
        if entry.shape != other.shape:
            problem = f"the shape is {entry.shape}, not {other.shape}"
        nan = math.nan
        return Row(
            entry.name,
            (entry.dtype, other.dtype),
            (tuple(entry.shape), tuple(other.shape)),
            nan,
            nan,
            nan,
            nan,
            nan,
            problem,
            entry.module,
            entry.location,
        )
    actual, expected = (
        torch.load(folder / file, weights_only=True)
        for folder, file in ((ours, entry.file), (theirs, other.file))
    )
    tolerance = tolerance_of(
        Kind.COMPOSED, actual.dtype, terms=entry.terms, magnitude=largest_finite(expected)
    )
    found = compare(actual, expected, tolerance)
    problem = "" if found.is_close else str(found)
    return row_of(entry.name, actual, expected, problem, entry.module, entry.location)


def compare_dumps(actual: str | Path, expected: str | Path) -> list[Row]:
    """Compares two steps of dumps, result by result, in the order in which they were computed.

    An element may differ by the roundings of everything before it: 6 sqrt(n) epsilon of the largest element, where n is the
    sum of the lengths of the inputs so far. The first row that is not close is where the dumps diverge. Results that only one
    dump has, such as copies to the device, are left out.

    Args:
        actual: a folder ``step<n>/rank<r>`` of a dump.
        expected: the same of the reference, such as the run on the CPU.

    Raises:
        DumpError: a folder is no dump, is damaged, or they have no result in common.
    """
    ours, theirs = Path(actual), Path(expected)
    found, reference = _read(ours), _read(theirs)
    names = [name for name in found if name in reference]
    if not names:
        raise DumpError(f"{ours} and {theirs} have no result in common")
    return [_row(found[name], reference[name], ours, theirs) for name in names]
