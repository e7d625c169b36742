"""The routes of operators on npu: ``print(torch_npu.utils.explain(model, x))``."""

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from torch_npu._core import state
from torch_npu._core.columns import aligned

# The order of core/route_stats.h.
_ROUTES = ("", "copy", "aclnn", "AI CPU", "CPU fallback", "generated", "HCCL")
_COMPOSITE = "composite"
_NO_DEVICE_WORK = "no device work"
_COLUMNS = ("operator", "route", "kernel", "calls", "total us", "self us")


@dataclass(frozen=True)
class Row:
    """The calls of one operator by one route.

    ``route`` is ``aclnn`` (``kernel`` is the function), ``AI CPU`` (ATen's CPU kernel on the device's memory),
    ``CPU fallback`` (the same on copies), ``HCCL`` (``kernel`` is the collective), ``generated`` (``kernel`` is
    one that ``torch.compile`` generated, the operator is ``inductor``), ``copy``, ``composite`` (composed of the operators that follow) or
    ``no device work`` (views, allocations). Times are the host's, in microseconds: ``total_us`` includes inner
    operators, ``self_us`` does not.
    """

    operator: str
    route: str
    kernel: str
    calls: int
    total_us: float
    self_us: float

    def _cells(self) -> tuple[str, ...]:
        times = (f"{self.total_us:.1f}", f"{self.self_us:.1f}")
        return (self.operator, self.route, self.kernel, str(self.calls), *times)


@dataclass(frozen=True)
class Tuned:
    """An operator and a shape for which several implementations were timed.

    ``work`` describes it, ``times`` are the microseconds of each candidate's fastest run, 0 where it was not timed, and
    ``chosen`` is the name of the candidate that serves.
    """

    work: str
    times: dict[str, float]
    chosen: str

    def __str__(self) -> str:
        """One line."""
        times = ", ".join(
            f"{name} {us:.1f} us" if us else f"{name} not timed" for name, us in self.times.items()
        )
        return f"{self.work}: {self.chosen} of {times}"


@dataclass(frozen=True)
class Served:
    """An operator and a shape, and the row of its table of algorithms that served it.

    ``refused`` has the rows above it, best first, each with the reason why it did not. It is empty where the shape was
    timed before (`Tuned`).
    """

    work: str
    algorithm: str
    refused: dict[str, str]

    def __str__(self) -> str:
        """One line."""
        why = "; ".join(f"not {name}: {reason}" for name, reason in self.refused.items())
        return f"{self.work}: {self.algorithm}" + (f" ({why})" if why else "")


@dataclass(frozen=True)
class Explanation:
    """The operators of one call; prints as a table.

    ``rows`` are in the order of the first calls, ``result`` is the function's result, ``synchronizations`` the number
    of waits for the device. ``tuned`` are the choices between implementations that the call used, ``served`` the
    algorithms of its convolutions and matrix products.
    """

    rows: tuple[Row, ...]
    synchronizations: int
    result: Any  # the function's result
    tuned: tuple[Tuned, ...] = ()
    served: tuple[Served, ...] = ()

    def calls(self, route: str | None = None, operator: str | None = None) -> int:
        """The number of calls by ``route`` and of ``operator`` ("aten::add.Tensor"); of all calls by default."""
        return sum(
            row.calls
            for row in self.rows
            if route in (None, row.route) and operator in (None, row.operator)
        )

    def routes(self) -> dict[str, int]:
        """``{route: calls}``."""
        return {name: self.calls(name) for name in dict.fromkeys(row.route for row in self.rows)}

    def _summary(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in self.routes().items())
        return f"calls: {counts or 'none'}; synchronizations: {self.synchronizations}"

    def _choices(self) -> list[str]:
        lines = ["tuned:", *(f"  {one}" for one in self.tuned)] if self.tuned else []
        if self.served:
            lines += ["algorithms:", *(f"  {one}" for one in self.served)]
        return lines

    def _table(self) -> Iterator[tuple[str, ...]]:
        yield _COLUMNS
        for row in self.rows:
            yield row._cells()

    def __str__(self) -> str:
        """An aligned table with a summary below."""
        table = list(self._table())
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = aligned(table, right=range(3, len(_COLUMNS)))
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([*lines, self._summary(), *self._choices()])

    def __repr__(self) -> str:
        """The table, for interactive prompts."""
        return str(self)

    def _repr_html_(self) -> str:
        """The table for notebooks."""
        head, *rows = self._table()
        text = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        text = f"<tr>{text}</tr>"
        for cells in rows:
            text += "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
        below = "".join(
            f"<p>{html.escape(line)}</p>" for line in (self._summary(), *self._choices())
        )
        return f"<table>{text}</table>{below}"


def _route(number: int, is_composite: bool) -> str:
    if is_composite:
        return _COMPOSITE
    return _ROUTES[number] or _NO_DEVICE_WORK


def synchronizations() -> int:
    """The number of times that this process has waited for a stream, an event or the device."""
    return state.native().synchronizations()


def _uses() -> list[int]:
    return [uses for _, uses, _, _ in state.native().tuned_works()]


def _tuned_since(before: list[int]) -> tuple[Tuned, ...]:
    """The choices that were used since then."""
    import torch

    def used() -> list[tuple]:
        works = state.native().tuned_works()
        earlier = before + [0] * (len(works) - len(before))
        return [one for one, uses in zip(works, earlier, strict=True) if one[1] > uses]

    works = used()
    if any(chosen < 0 for _, _, chosen, _ in works):
        torch.npu.synchronize()  # their first runs are queued
        works = used()
    return tuple(
        Tuned(work, dict(candidates), candidates[chosen][0])
        for work, _, chosen, candidates in works
        if chosen >= 0
    )


def explain(function: Callable[..., object], *args: object, **kwargs: object) -> Explanation:
    """Calls ``function(*args, **kwargs)`` and reports the route of each of its operators.

    ``function`` is any callable: a function, a module, ``torch.ops.aten.add.Tensor``. Operators of the calling thread
    are counted, including those of backward passes that it starts.

    Raises:
        RuntimeError: it runs inside another ``explain``.
    """
    used = _uses()
    state.native().start_counting_routes()
    state.native().log_algorithms(True)
    before = state.native().synchronizations()
    counted = []
    try:
        result = function(*args, **kwargs)
    finally:
        waited = state.native().synchronizations() - before
        counted = state.native().stop_counting_routes()
        state.native().log_algorithms(False)
    rows = tuple(
        Row(op, _route(route, composite), kernel, calls, total / 1e3, own / 1e3)
        for op, route, kernel, composite, calls, total, own in counted
    )
    served = tuple(
        Served(work, algorithm, dict(refused))
        for work, algorithm, _, refused in state.native().served_works()
    )
    return Explanation(rows, waited, result, _tuned_since(used), served)
