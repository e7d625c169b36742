"""Arguments that operators refuse: an OpInfo's own, and its samples with other types, shapes and devices."""

from collections.abc import Callable, Iterator

import torch
from torch.utils._pytree import tree_map

# Types that hardly any operator supports all of.
DTYPES = (torch.float64, torch.complex64, torch.bool, torch.int64, torch.float16, torch.bfloat16,
          torch.float8_e4m3fn, torch.complex32, torch.uint16)  # fmt: skip
SHAPES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "one dimension more": lambda t: t[None],
    "one dimension": lambda t: t.reshape(-1),
    "without elements": lambda t: t[:0] if t.dim() else t,
    "a number": lambda t: t.reshape(-1)[0] if t.numel() else t,
    "many dimensions": lambda t: t.reshape((1,) * 5 + t.shape),
}

Call = tuple[str, tuple[object, tuple, dict]]


def _mapped(change: Callable, tree: object) -> object:
    return tree_map(lambda x: change(x) if isinstance(x, torch.Tensor) else x, tree)


def _variants(sample, name: str, change: Callable) -> Iterator[Call]:
    """All tensors changed, only the first one, and all but the first one."""
    rest = _mapped(change, (sample.args, sample.kwargs))
    yield name, (_mapped(change, sample.input), *rest)
    yield f"{name}: the first", (_mapped(change, sample.input), sample.args, sample.kwargs)
    yield f"{name}: the others", (sample.input, *rest)


def _other_numbers(sample, number: int) -> tuple:
    given = (sample.input, sample.args, sample.kwargs)
    return tree_map(lambda x: number if type(x) is int else x, given)


def of_sample(sample) -> Iterator[Call]:
    """Arguments that an operator may refuse, made from valid ones."""
    for dtype in DTYPES:
        yield from _variants(sample, str(dtype), lambda t, dtype=dtype: t.detach().to(dtype))
    for name, change in SHAPES.items():
        yield from _variants(sample, name, change)
    yield from list(_variants(sample, "cpu", torch.Tensor.cpu))[1:]
    for number in (-7, 1000):
        yield f"{number}", _other_numbers(sample, number)


def of_op(op) -> Iterator[Call]:
    """The OpInfo's own error inputs, then those made from its first and its last samples."""
    for error in op.error_inputs("npu") if op.error_inputs_func is not None else ():
        sample = error.sample_input
        yield "error input", (sample.input, sample.args, sample.kwargs)
    dtypes = op.supported_dtypes("cpu")
    if not dtypes:
        return
    dtype = torch.float32 if torch.float32 in dtypes else min(dtypes, key=str)
    samples = list(op.sample_inputs("npu", dtype))
    for sample in (samples[0], samples[-1]):
        if isinstance(sample.input, torch.Tensor) and sample.input.layout != torch.strided:
            continue
        yield from of_sample(sample)
