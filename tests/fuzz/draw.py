"""One random call: a recorded one with other dtypes, numbers, layouts, shapes and attributes. Its name determines all
of it."""

import random
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch.utils._pytree import tree_leaves, tree_map

from fuzz import layouts, numbers
from fuzz.recorded import Call, overload

# Arguments that are indices or classes: their numbers are kept, except that now and then one is out of range.
_PLACES = {"index", "indices", "target"}
# Operators whose CPU kernel silently writes out of bounds if an index is out of range.
_UNCHECKED = {"embedding_dense_backward", "nll_loss_backward", "nll_loss2d_backward", "adaptive_max_pool2d_backward",
              "adaptive_max_pool3d_backward", "max_pool2d_with_indices_backward"}  # fmt: skip
# Masks, which select elements of the other arguments.
_MASKS = {"condition", "mask"}
# Operators whose tensors must be consistent (saved means and deviations, buffers): numbers are kept, layouts change.
_CONSISTENT = ("norm_backward", "pool2d_backward", "pool3d_backward", "loss_backward", "loss2d_backward", "softmax_backward",
               "sigmoid_backward", "elu_backward")  # fmt: skip
# Operators with one tensor that is a function of another: no element is repeated.
_BUFFERED = {"log_sigmoid_backward"}
# Attributes that name a choice, or that PyTorch computes from the other arguments without a check.
_CHOICES = (
    "interpolation_mode",
    "padding_mode",
    "reduction",
    "norm_type",
    "N",
    "C",
    "HxW",
    "num_weights",
)
# Operators for which NaN and infinity are meaningful in a sum or an order; in others they meet zeros in an
# unspecified order.
_REDUCTIONS = {"sum", "mean", "amax", "amin", "max", "min", "prod", "argmax", "argmin", "cumsum", "cumprod", "sort",
               "topk", "any", "all", "nansum", "logsumexp", "aminmax", "cummax", "cummin", "median", "nanmedian"}  # fmt: skip
# Results that no program sees: (operator, index of the result).
UNSEEN = {("log_sigmoid_forward", 1), ("nll_loss_forward", 1), ("nll_loss2d_forward", 1)}

_BY_NAME = {str(dtype).removeprefix("torch."): dtype for dtype in numbers.DTYPES}
DTYPES = tuple(_BY_NAME)


class Name(NamedTuple):
    """The name of a draw: the name and the recorded calls determine the draw."""

    operator: str
    dtype: str
    seed: int

    def __str__(self) -> str:
        return f"{self.operator}:{self.dtype}:{self.seed}"


def parse(text: str) -> Name:
    """Parses the text that `Name` prints."""
    operator, dtype, seed = text.split(":")
    return Name(operator, dtype, int(seed))


def is_pointwise(function: torch._ops.OpOverload) -> bool:
    """Whether each element of a result depends only on the elements at the same position."""
    return torch.Tag.pointwise in function.tags


@dataclass
class Drawn:
    """A call: the function and its arguments on the CPU."""

    name: str
    args: tuple
    kwargs: dict

    @cached_property
    def function(self) -> torch._ops.OpOverload:
        """The function to call."""
        return overload(self.name)

    @property
    def tensors(self) -> list[torch.Tensor]:
        """The tensors among the arguments."""
        return [x for x in tree_leaves((self.args, self.kwargs)) if isinstance(x, torch.Tensor)]

    @property
    def is_pointwise(self) -> bool:
        """Whether the function is pointwise; PyTorch marks only functions of single tensors so."""
        return is_pointwise(self.function) or self.name.startswith("aten._foreach_")

    def argument(self, name: str) -> object:
        """The argument of that name, or None."""
        return next((v for a, v in self.arguments() if a.name == name), None)

    def arguments(self) -> list[tuple[torch._C.Argument, object]]:
        """Each argument that is given, with its declaration."""
        declared = self.function._schema.arguments
        named = {a.name: a for a in declared}
        given = list(zip(declared, self.args, strict=False))
        return given + [(named[name], value) for name, value in self.kwargs.items()]

    def __str__(self) -> str:
        words = [_describe(a) for a in self.args]
        words += [f"{name}={_describe(a)}" for name, a in self.kwargs.items()]
        return f"{self.name}({', '.join(words)})"


def _describe(x) -> str:
    if isinstance(x, torch.Tensor):
        words = [] if x.is_contiguous() else [f"strides {list(x.stride())}"]
        words += [f"offset {x.storage_offset()}"] if x.storage_offset() else []
        words += ["conj"] if x.is_conj() else []
        words += ["neg"] if x.is_neg() else []
        return ", ".join([f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}", *words])
    if isinstance(x, list | tuple) and any(isinstance(e, torch.Tensor) for e in x):
        return f"[{'; '.join(_describe(e) for e in x)}]"
    return repr(x)


class Drawer:
    """Draws calls of the operators in ``recorded``."""

    def __init__(self, recorded: dict[str, list[Call]]):
        self.recorded = recorded

    def draw(self, name: Name) -> Drawn:
        """The call of that name."""
        choose = random.Random(str(name))
        generator = torch.Generator().manual_seed(choose.randrange(2**31))
        called, args, kwargs = choose.choice(self.recorded[name.operator])
        return _Mutation(called, name, choose, generator).apply(args, kwargs)


def _without_elements(args: tuple, kwargs: dict, choose: random.Random) -> tuple[tuple, dict]:
    """The arguments with size 0 in a dimension, in which tensors of the first one's size are cut to nothing."""
    first = next((x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)), None)
    if first is None or first.dim() == 0:
        return args, kwargs
    d = choose.randrange(first.dim())

    def cut(x: object) -> object:
        is_cut = isinstance(x, torch.Tensor) and x.dim() > d and x.size(d) == first.size(d)
        return x.narrow(d, 0, 0) if is_cut else x

    return tree_map(cut, (args, kwargs))


class _Mutation:
    def __init__(self, called: str, name: Name, choose: random.Random, generator: torch.Generator):
        self.name = called
        self.operator = name.operator
        self.function = overload(called)
        self.choose = choose
        self.generator = generator
        self.pointwise = is_pointwise(self.function)
        self.reduces = self.operator in _REDUCTIONS
        self.keeps_numbers = self.operator.endswith(_CONSISTENT)
        self.dtype = _BY_NAME[name.dtype]
        self.mixes = choose.random() < 0.12 and self.operator not in _BUFFERED
        # Layouts: one for all tensors with as many dimensions, or one of its own for each.
        self.layout = choose.randrange(2**31) if choose.random() < 0.3 else None
        self.leads = True  # the next tensor is the first one, which has the draw's dtype
        self.shapes = self._shapes() if self.pointwise and choose.random() < 0.6 else None
        # Which attribute gets an extreme number, counted among those that can.
        self.extreme = choose.randrange(3) if choose.random() < 0.06 else -1

    def _shapes(self):
        """A shape to which all operands broadcast; each operand may lose dimensions or have size 1 there."""
        choose = self.choose
        full = [choose.choice((1, 2, 3, 5, 8, 17, 33)) for _ in range(choose.randrange(4))]
        if choose.random() < 0.05 and full:
            full[choose.randrange(len(full))] = 0

        def one(written: bool) -> list[int]:
            if written:
                return full
            kept = full[choose.randrange(len(full) + 1) :] if choose.random() < 0.3 else full
            return [1 if choose.random() < 0.15 else size for size in kept]

        return one

    def apply(self, args: tuple, kwargs: dict) -> Drawn:
        declared = self.function._schema.arguments
        if self.choose.random() < 0.04:
            args, kwargs = _without_elements(args, kwargs, self.choose)
        values = [
            self._argument(argument, args[i] if i < len(args) else kwargs[argument.name])
            for i, argument in enumerate(declared)
            if i < len(args) or argument.name in kwargs
        ]
        given = [a.name for a in declared[len(args) :] if a.name in kwargs]
        if self.operator == "log_sigmoid_backward":
            size = values[1].to(torch.complex128).abs()
            values[2] = values[2].clone().copy_((-size).exp())
        kwargs = dict(zip(given, values[len(args) :], strict=True))
        return Drawn(self.name, tuple(values[: len(args)]), kwargs)

    def _argument(self, argument, value):
        choose = self.choose
        if isinstance(value, torch.Tensor):
            return self._tensor(argument, value)
        if isinstance(value, list | tuple) and any(isinstance(v, torch.Tensor) for v in value):
            return [self._tensor(argument, v) if isinstance(v, torch.Tensor) else v for v in value]
        kind = str(argument.type).removeprefix("Optional[").removesuffix("]")
        if argument.name in _CHOICES:
            return value
        if kind == "bool" and isinstance(value, bool):
            return choose.random() < 0.5 if choose.random() < 0.2 else value
        if kind.startswith("List[bool"):
            mask = [choose.random() < 0.5 for _ in value]
            return mask if any(mask) and choose.random() < 0.4 else value
        if kind == "number" and isinstance(value, int | float):
            return numbers.scalar(choose) if choose.random() < 0.5 else value
        if kind.startswith("List[number") and choose.random() < 0.3:
            return [numbers.scalar(choose) for _ in value]
        if kind == "float" and isinstance(value, float):
            if self._is_extreme():
                return choose.choice(numbers.FRACTIONS)
            return choose.uniform(0.01, 2) if choose.random() < 0.5 else value
        if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
            if self._is_extreme():
                return choose.choice(numbers.EXTENTS)
            return value + choose.choice((-1, 1)) if choose.random() < 0.15 else value
        if kind.startswith("List[int") and value and self._is_extreme():
            location = choose.randrange(len(value))
            return [
                choose.choice(numbers.EXTENTS) if i == location else v for i, v in enumerate(value)
            ]
        return value

    def _is_extreme(self) -> bool:
        self.extreme -= 1
        return self.extreme == -1

    def _tensor(self, argument, t: torch.Tensor) -> torch.Tensor:
        written = argument.alias_info is not None and argument.alias_info.is_write
        location = argument.name in _PLACES and not t.is_floating_point()
        t = self._indices(t) if location else self._values(t, written, argument.name in _MASKS)
        fixed = written or location or self.operator in _BUFFERED
        choose = self.choose if self.layout is None else random.Random(self.layout)
        return layouts.laid_out(t, choose, may_repeat=not fixed)

    def _indices(self, t: torch.Tensor) -> torch.Tensor:
        if self.choose.random() < 0.1:
            t = t.to(self.choose.choice(numbers.INTEGRAL[:2]))
        if t.numel() and self.choose.random() < 0.03 and self.operator not in _UNCHECKED:
            t = t.clone(memory_format=torch.contiguous_format)
            t.view(-1)[self.choose.randrange(t.numel())] = self.choose.choice((-1, 1000, -(2**31)))
        return t

    def _values(self, t: torch.Tensor, written: bool, is_mask: bool) -> torch.Tensor:
        dtype = t.dtype if is_mask else self._dtype_of(t)
        if self.shapes is not None:
            t = torch.zeros(self.shapes(written), dtype=dtype)
        elif self.keeps_numbers or self.choose.random() < 0.5:
            return t.to(dtype)
        t = t.to(dtype)
        return numbers.of(t, self.choose, self.generator, extremes=self.pointwise or self.reduces)

    def _dtype_of(self, t: torch.Tensor) -> torch.dtype:
        if self.leads:
            self.leads = False
            return self.dtype
        if self.mixes:
            return self.choose.choice(numbers.DTYPES)
        return self.dtype
