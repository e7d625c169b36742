"""Runs a program's operators on the device and on the CPU: which one is the first that is wrong.

Each operator is judged alone, with the inputs that it had, so that an error does not reach the next one's reference.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from torch_npu.accuracy import judge
from torch_npu.accuracy.dtypes import is_inexact
from torch_npu.accuracy.kinds import Kind
from torch_npu.accuracy.location import Modules, location_of_operator
from torch_npu.accuracy.rounding import Change, changed
from torch_npu.accuracy.rows import Row, row_of

_REFERENCES = ("cpu", "float64")
# HF32 has 11 bits of the mantissa (float32: 24): each factor is rounded, by half of the last bit.
_HF32_ERROR = 2.0**-11 * 2
_HF32 = {
    "conv": ("convolution", "convolution_backward", "_convolution"),
    "matmul": ("mm", "addmm", "bmm", "baddbmm", "addbmm", "linear", "addmv", "mv"),
}
# Their results are not defined, or the operator's own random numbers.
_UNDEFINED = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_")


@dataclass(frozen=True)
class Divergence:
    """An operator whose result is wrong.

    Args:
        operator: "aten.mul.Tensor".
        number: of its call; from 0, counted for each operator.
        module: in which it ran.
        location: the program's line, of the forward pass.
        is_backward: whether it ran in a backward pass.
        problem: how many elements are wrong, and the worst.
        arguments: those of the call, on the CPU.
    """

    operator: str
    number: int
    module: str
    location: str
    is_backward: bool
    problem: str
    arguments: tuple[tuple, dict] = field(repr=False)

    def __str__(self) -> str:
        """Operator, module, line, and what is wrong."""
        what = "in the backward pass of" if self.is_backward else "at"
        module = f"\n  module: {self.module}" if self.module else ""
        return f"{self.operator} (call {self.number}){module}\n  {what} {self.location}\n  {self.problem}"

    def write_script(self, path: str | Path) -> None:
        """Writes a script that runs the operator alone, with its inputs in a file beside it.

        The script ends with exit code 1 if device and CPU differ.
        """
        script = Path(path)
        data = script.with_suffix(".pt")
        torch.save(self.arguments, data)
        script.write_text(
            f'"""{self.operator}, as called {self.location}."""\n\n'
            "import sys\nfrom pathlib import Path\n\nimport torch\n\n"
            "from torch_npu.accuracy import check_operators\n\n"
            f'args, kwargs = torch.load(Path(__file__).with_name("{data.name}"), weights_only=False)\n'
            "move = lambda t: t.npu() if isinstance(t, torch.Tensor) else t\n"
            "args, kwargs = torch.utils._pytree.tree_map(move, (args, kwargs))\n"
            f"found = check_operators(torch.ops.{self.operator}, *args, **kwargs)\n"
            'print(found.first or "device and CPU agree")\n'
            "sys.exit(found.first is not None)\n"
        )


@dataclass
class OperatorReport:
    """What :func:`check_operators` found: a row for each result, and the operators that are wrong in their order."""

    rows: list[Row] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)  # operator: calls without a reference
    result: Any = None  # the function's

    @property
    def first(self) -> Divergence | None:
        """The first operator that is wrong."""
        return self.divergences[0] if self.divergences else None


def _is_npu(leaf: object) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.device.type == "npu"


def _to_cpu(leaf: object) -> object:
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().clone() if leaf.device.type == "cpu" else leaf.detach().cpu()
    if isinstance(leaf, torch.device) and leaf.type == "npu":
        return torch.device("cpu")
    return leaf


def _has_reference(func: torch._ops.OpOverload, args: tuple, kwargs: dict) -> bool:
    name = func.__name__.partition(".")[0]
    if func.namespace != "aten" or name in _UNDEFINED:
        return False
    if torch.Tag.nondeterministic_seeded in func.tags or torch.Tag.inplace_view in func.tags:
        return False
    returns = func._schema.returns
    is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in returns)
    leaves = tree_flatten((args, kwargs))[0]
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return (
        not is_view
        and any(map(_is_npu, tensors))
        and all(t.layout is torch.strided for t in tensors)
    )


def _kind(func: torch._ops.OpOverload) -> Kind:
    # Derivatives of single functions are sums whose terms may cancel.
    is_function = torch.Tag.pointwise in func.tags and "backward" not in func.__name__
    return Kind.ELEMENTWISE if is_function else Kind.COMPOSED


def _hf32_error(func: torch._ops.OpOverload, args: tuple, kwargs: dict) -> Any:  # noqa: ANN401 - as of Rule.atol
    """What HF32 may lose, if the program allows it for this operator: a tensor for each result."""
    name = func.__name__.partition(".")[0]
    group = next((group for group, names in _HF32.items() if name in names), None)
    if group is None or not getattr(
        getattr(torch.get_device_module("npu"), group), "allow_hf32", False
    ):
        return 0.0

    def magnitude(leaf: object) -> object:
        is_real = isinstance(leaf, torch.Tensor) and is_inexact(leaf.dtype)
        return leaf.abs().double() if is_real else leaf  # type: ignore[attr-defined]

    sizes = func(*tree_map(magnitude, args), **tree_map(magnitude, kwargs))
    return [_HF32_ERROR * size for size in tree_flatten(sizes)[0] if isinstance(size, torch.Tensor)]


class OperatorCheck(TorchDispatchMode):
    """Judges each operator on npu of this thread and of the backward passes that it starts, while it is entered."""

    def __init__(self, reference: str = "cpu", most: int | None = None) -> None:
        """Checks nothing until it is entered.

        Args:
            reference: what the rows' errors are against, "cpu" or "float64". What is wrong is judged by both.
            most: ends the checks after so many operators that are wrong; None: never.

        Raises:
            ValueError: there is no such reference.
        """
        if reference not in _REFERENCES:
            raise ValueError(f"reference is {reference!r}: it is one of {', '.join(_REFERENCES)}")
        super().__init__()
        self.report = OperatorReport()
        self._reference = reference
        self._most = math.inf if most is None else most
        self._modules = Modules()
        self._calls: dict[str, int] = {}
        self._entered = ExitStack()

    def __enter__(self) -> "OperatorCheck":
        """Starts; backward passes are recorded with the lines of their forward passes."""
        self._modules.start()
        self._entered.callback(self._modules.stop)
        self._entered.enter_context(torch.autograd.set_detect_anomaly(True, check_nan=False))
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Stops."""
        super().__exit__(*error)
        self._entered.close()

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: tuple[type, ...],
        args: tuple = (),
        kwargs: dict | None = None,
    ) -> object:
        """Runs the operator, then its reference."""
        kwargs = kwargs or {}
        if len(self.report.divergences) >= self._most:
            return func(*args, **kwargs)
        if not _has_reference(func, args, kwargs):
            if any(map(_is_npu, tree_flatten((args, kwargs))[0])):
                self.report.skipped[str(func)] = self.report.skipped.get(str(func), 0) + 1
            return func(*args, **kwargs)
        before = tree_map(_to_cpu, (args, kwargs))
        result = func(*args, **kwargs)
        self._judge(func, before, self._results(func, args, kwargs, result))
        return result

    def _results(
        self, func: torch._ops.OpOverload, args: tuple, kwargs: dict, result: object
    ) -> list:
        """The results, and the arguments that the operator changed."""
        schema = func._schema.arguments
        changed_ = [
            args[i] if i < len(args) else kwargs.get(a.name)
            for i, a in enumerate(schema)
            if a.alias_info is not None and a.alias_info.is_write
        ]
        leaves = tree_flatten((result, changed_))[0]
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def _judge(self, func: torch._ops.OpOverload, before: tuple[tuple, dict], actual: list) -> None:
        def run(change: Change | None) -> list:
            args, kwargs = tree_map(_to_cpu, before)
            if change is not None:
                args, kwargs = changed(args, change), changed(kwargs, change)
            return self._results(func, args, kwargs, func(*args, **kwargs))

        name = str(func)
        number = self._calls[name] = self._calls.get(name, -1) + 1
        try:
            expected = run(None)
        except (RuntimeError, NotImplementedError, TypeError):
            self.report.skipped[name] = self.report.skipped.get(name, 0) + 1
            return
        given = tuple(t for t in tree_flatten(before)[0] if isinstance(t, torch.Tensor))
        location, is_backward = location_of_operator()
        problem = ""
        rule = judge.Rule(
            _kind(func), run, given, not is_backward, _hf32_error(func, *tree_map(_to_cpu, before))
        )
        try:
            judge.check_same(expected, [t.detach().cpu() for t in actual], rule)
        except AssertionError as error:
            problem = str(error)
        module = "" if is_backward else self._modules.current()
        self._add_rows(name, number, is_backward, actual, expected, run, problem, module, location)
        if problem:
            self.report.divergences.append(
                Divergence(name, number, module, location, is_backward, problem, before)
            )

    def _add_rows(
        self,
        name: str,
        number: int,
        is_backward: bool,
        actual: list,
        expected: list,
        run: Callable[[Change | None], list],
        problem: str,
        module: str,
        location: str,
    ) -> None:
        if self._reference == "float64":
            expected = list(_in_double(run, expected))
        direction = "backward" if is_backward else "forward"
        for which, (a, e) in enumerate(zip(actual, expected, strict=True)):
            wrong = problem if f"result {which}:" in problem or which == 0 else ""
            full = f"{name}.{number}.{direction}.output.{which}"
            self.report.rows.append(row_of(full, a, e, wrong, module, location))


def _in_double(run: Callable[[Change | None], list], expected: list) -> Iterator[torch.Tensor]:
    try:
        yield from judge.bounds.exact(run)
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        yield from expected


def check_operators(
    function: Callable[..., object],
    *args: object,
    reference: str = "cpu",
    most: int | None = None,
    **kwargs: object,
) -> OperatorReport:
    """Calls ``function(*args, **kwargs)`` and judges each of its operators on npu by the CPU and by double precision.

    Args:
        function: any callable, such as one training step.
        reference: what the rows' errors are against, "cpu" or "float64".
        most: ends the checks after so many wrong operators; None: never.
        args: its arguments.
        kwargs: its named arguments.

    Raises:
        ValueError: there is no such reference.
    """
    check = OperatorCheck(reference, most)
    with check:
        check.report.result = function(*args, **kwargs)
    return check.report
