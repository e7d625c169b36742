"""References that npu_native_functions.yaml implies: an entry's aclnn function computes the entry's ATen operator."""

from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from codegen.files import read_files
from codegen.model import Entry, ExecSpec

YAML = Path(__file__).parents[2] / "torch_npu/csrc/aten/npu_native_functions.yaml"
OUTPUTS = {"out", "grad_input"}
# Values of arguments that are not tensors, by their types in ATen's schema.
SAMPLES = {"number": (2, 0.5), "float": (0.3,), "int": (1,), "bool": (False, True)}

Implied = tuple[int, Callable[..., torch.Tensor], list[tuple]]


def _schema(func: str) -> torch.FunctionSchema:
    name, _, overload = func.partition(".")
    return getattr(getattr(torch.ops.aten, name), overload or "default")._schema


def _names(call: ExecSpec, inputs: dict[str, str]) -> list[str] | None:
    """The inputs in the order of the C function; None if there is another argument among them or after the output."""
    if call.arguments is None:
        return list(inputs)
    names = [a.name for a in call.arguments if a.arguments is None]
    if len(names) != len(call.arguments) or names[-1] not in OUTPUTS:
        return None
    return names[:-1] if set(names[:-1]) == set(inputs) else None


def _implied(entry: Entry, call: ExecSpec, number: str | None) -> Implied | None:
    schema = _schema(entry.func)
    types = {a.name: str(a.type) for a in schema.arguments if not a.is_out}
    types |= {number: "number"} if number else {}
    names = _names(call, types)
    if names is None or len(schema.returns) != 1 or schema.name.endswith("_"):
        return None
    tensors = [name for name in names if types[name] == "Tensor"]
    others = names[len(tensors) :]
    if names[: len(tensors)] != tensors or not all(types[name] in SAMPLES for name in others):
        return None
    operator = getattr(torch.ops.aten, entry.func.partition(".")[0])
    taken = dict(entry.dtypes)

    def reference(*values: object) -> torch.Tensor:
        for name, value in zip(names, values[: len(tensors)], strict=False):
            dtypes = taken.get(name, taken.get(""))
            if dtypes is not None and str(value.dtype).removeprefix("torch.") not in dtypes:
                raise NotImplementedError(f"{entry.func} does not take {value.dtype}")
        return operator(**dict(zip(names, values, strict=True)))

    samples = [SAMPLES[types[name]] for name in others]
    count = max(map(len, samples), default=1)
    return (
        len(tensors),
        reference,
        [tuple(values[i % len(values)] for values in samples) for i in range(count)],
    )


def implied_references() -> Iterator[tuple[str, Implied]]:
    """aclnn functions of tensors, then numbers, then one output: (name, (tensors, function, samples of the numbers))."""
    for entry in read_files(YAML).official:
        for number, call in ((None, entry.call), *entry.number_calls):
            if implied := _implied(entry, call, number):
                yield call.function, implied
