"""Arguments drawn from a schema's types alone. Most are refused: `versions.search` finds those that the CPU accepts."""

import random

import torch

from versions.recorded import Given
from versions.schemas import Overload, is_out, is_written

_SHAPES = ((2, 3), (3,), (), (3, 3), (2, 2, 3), (1, 2, 4, 4), (1, 2, 3, 4, 4))
_DTYPES = (torch.float32,) * 4 + (torch.int64, torch.bool, torch.complex64)
_STRINGS = ("none", "mean", "floor", "sum", "fro", "linear", "constant", "L")
_INTS = (1, 0, 2, 3, -1)


class _Draw:
    """One draw: its tensors have mostly one shape and one data type."""

    def __init__(self, choose: random.Random):
        self.choose = choose
        self.shape = choose.choice(_SHAPES)
        self.dtype = choose.choice(_DTYPES)
        self.generator = torch.Generator().manual_seed(choose.randrange(2**31))

    def tensor(self) -> torch.Tensor:
        choose = self.choose
        shape = choose.choice(_SHAPES) if choose.random() < 0.15 else self.shape
        dtype = choose.choice(_DTYPES) if choose.random() < 0.15 else self.dtype
        values = torch.randint(1, 4, shape, generator=self.generator)
        return values.bool() if dtype is torch.bool else values.to(dtype)

    def of(self, kind: str) -> object:
        """A value of that type of the schema; KeyError if there is none for it."""
        choose = self.choose
        if kind.startswith("Optional["):
            inner = kind.removeprefix("Optional[").removesuffix("]")
            return None if choose.random() < 0.6 else self.of(inner)
        if kind.startswith("List["):
            inner = kind.removeprefix("List[").removesuffix("]")
            value = self.of(inner)
            count = choose.choice((1, 2, 3, len(self.shape)))
            return [self.of(inner) if inner == "Tensor" else value for _ in range(count)]
        return {
            "Tensor": self.tensor,
            "number": lambda: choose.choice((1, 2, 0.5)),
            "int": lambda: choose.choice(_INTS),
            "float": lambda: 0.5,
            "bool": lambda: choose.random() < 0.5,
            "str": lambda: choose.choice(_STRINGS),
            "Generator": lambda: None,
            "Device": lambda: None,
        }[kind]()


def draw(function: Overload, number: int) -> Given:
    """The draw of that number; outputs are empty tensors, which the operator resizes.

    Raises:
        KeyError: an argument's type has no values here.
    """
    choose = random.Random(f"{function} {number}")
    values = _Draw(choose)
    given: Given = {}
    for argument in function._schema.arguments:
        kind = str(argument.type)
        if is_out(argument):
            result = [torch.empty(0, dtype=values.dtype) for _ in range(3)]
            given[argument.name] = (
                result[0] if kind == "Tensor" else result[: choose.randrange(1, 4)]
            )
        elif not argument.has_default_value() or is_written(argument) or choose.random() < 0.2:
            given[argument.name] = values.of(kind)
    return given
