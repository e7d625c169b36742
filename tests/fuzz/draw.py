"""One random call: a recorded one with other dtypes, numbers, layouts, shapes and attributes. The seed tells all of it."""

import random
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_map

from fuzz import layouts, numbers
from fuzz.recorded import Call, overload

# Integer tensors of these are indices, lengths or classes: their numbers stay.
_INDEXED = ("index", "gather", "scatter", "embedding", "nll_loss", "take", "pool", "bincount", "search", "repeat",
            "one_hot", "put", "multinomial", "kthvalue", "unpool", "select")  # fmt: skip
# Tensors of these belong to one another (saved means and deviations, buffers): their numbers stay, the layouts change.
_CONSISTENT = ("norm_backward", "pool2d_backward", "pool3d_backward", "loss_backward", "loss2d_backward", "softmax_backward",
               "sigmoid_backward", "elu_backward")  # fmt: skip
# Attributes that name a choice: others than the recorded ones mean nothing.
_CHOICES = ("interpolation_mode", "padding_mode", "reduction", "norm_type")
# Of these NaN and infinity have a meaning in a sum or an order; elsewhere they meet zeros in an order that is free.
_REDUCTIONS = {"sum", "mean", "amax", "amin", "max", "min", "prod", "argmax", "argmin", "cumsum", "cumprod", "sort",
               "topk", "any", "all", "nansum", "logsumexp", "aminmax", "cummax", "cummin", "median", "nanmedian"}  # fmt: skip
# Results that no program sees: (operator, index of the result).
UNSEEN = {("log_sigmoid_forward", 1), ("nll_loss_forward", 1), ("nll_loss2d_forward", 1)}


@dataclass
class Drawn:
    """A call: the function, and its arguments on the CPU."""

    name: str
    args: tuple
    kwargs: dict

    @property
    def function(self) -> torch._ops.OpOverload:
        """What to call."""
        return overload(self.name)

    @property
    def dtype(self) -> str:
        """The data type of the first tensor: what the table counts by."""
        for x in torch.utils._pytree.tree_leaves((self.args, self.kwargs)):
            if isinstance(x, torch.Tensor):
                return str(x.dtype).removeprefix("torch.")
        return "none"

    def __str__(self) -> str:
        words = [_describe(a) for a in self.args]
        words += [f"{name}={_describe(a)}" for name, a in self.kwargs.items()]
        return f"{self.name}({', '.join(words)})"


def _describe(x) -> str:
    if isinstance(x, torch.Tensor):
        strides = "" if x.is_contiguous() else f", strides {list(x.stride())}"
        return f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}{strides}"
    if isinstance(x, list | tuple) and any(isinstance(e, torch.Tensor) for e in x):
        return f"[{', '.join(_describe(e) for e in x)}]"
    return repr(x)


def _is_pointwise(function) -> bool:
    return torch.Tag.pointwise in function.tags


def _written(function) -> set[str]:
    return {a.name for a in function._schema.arguments if a.alias_info and a.alias_info.is_write}


class Drawer:
    """Draws calls of the operators in ``recorded``."""

    def __init__(self, recorded: dict[str, list[Call]]):
        self.recorded = recorded

    def draw(self, operator: str, seed: int) -> Drawn:
        """The call of ``operator`` that belongs to ``seed``."""
        choose = random.Random(f"{operator} {seed}")
        generator = torch.Generator().manual_seed(choose.randrange(2**31))
        name, args, kwargs = choose.choice(self.recorded[operator])
        call = _Mutation(name, operator, choose, generator)
        return call.apply(args, kwargs)


class _Mutation:
    def __init__(self, name, operator, choose, generator):
        self.name = name
        self.function = overload(name)
        self.choose = choose
        self.generator = generator
        self.pointwise = _is_pointwise(self.function)
        self.written = _written(self.function)
        self.reduces = operator in _REDUCTIONS
        self.keeps_integers = any(word in operator for word in _INDEXED)
        self.keeps_numbers = any(operator.endswith(word) for word in _CONSISTENT)
        self.floating = choose.choice(numbers.FLOATING)
        self.mixes = choose.random() < 0.1
        self.shapes = self._shapes() if self.pointwise and choose.random() < 0.6 else None

    def _shapes(self):
        """A shape that all broadcast to; each operand may lose dimensions or have 1 there."""
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

    def apply(self, args, kwargs) -> Drawn:
        declared = self.function._schema.arguments
        values = [
            self._argument(argument, args[i] if i < len(args) else kwargs[argument.name])
            for i, argument in enumerate(declared)
            if i < len(args) or argument.name in kwargs
        ]
        positional = tuple(values[: len(args)])
        given = [a.name for a in declared[len(args) :] if a.name in kwargs]
        return Drawn(self.name, positional, dict(zip(given, values[len(args) :], strict=True)))

    def _argument(self, argument, value):
        written = argument.name in self.written
        if isinstance(value, torch.Tensor):
            return self._tensor(value, written)
        if isinstance(value, list | tuple) and any(isinstance(v, torch.Tensor) for v in value):
            return tree_map(
                lambda v: self._tensor(v, written) if isinstance(v, torch.Tensor) else v,
                list(value),
            )
        kind = str(argument.type)
        if isinstance(value, bool) and kind == "bool":
            return self.choose.random() < 0.5 if self.choose.random() < 0.2 else value
        if isinstance(value, int | float) and kind in ("number", "Optional[number]"):
            return numbers.scalar(self.choose) if self.choose.random() < 0.5 else value
        if argument.name in _CHOICES:
            return value
        if isinstance(value, float) and kind in ("float", "Optional[float]"):
            return self.choose.uniform(0.01, 2) if self.choose.random() < 0.5 else value
        if isinstance(value, int) and kind == "int" and self.choose.random() < 0.15:
            return value + self.choose.choice((-1, 1))
        return value

    def _tensor(self, t: torch.Tensor, written: bool) -> torch.Tensor:
        if self.shapes is not None:
            shape = self.shapes(written)
            t = torch.zeros(shape, dtype=t.dtype)
            fresh = True
        else:
            fresh = self.choose.random() < 0.5 and not self.keeps_numbers
        if t.is_floating_point():
            dtype = self.choose.choice(numbers.FLOATING) if self.mixes else self.floating
            t = t.to(dtype)
            if fresh:
                t = numbers.floating(
                    t, self.choose, self.generator, extremes=self.pointwise or self.reduces
                )
        elif t.dtype in numbers.INTEGRAL and not self.keeps_integers:
            if self.pointwise and self.choose.random() < 0.5:
                t = t.to(self.choose.choice(numbers.INTEGRAL))
            if fresh and self.pointwise:
                t = numbers.integral(t, self.choose, self.generator)
        elif t.dtype == torch.bool and fresh and self.shapes is not None:
            t = torch.randint(0, 2, t.shape, generator=self.generator).bool()
        # A place that repeats would lie outside of its window.
        is_place = self.keeps_integers and not t.is_floating_point()
        return layouts.laid_out(t, self.choose, may_repeat=not written and not is_place)
