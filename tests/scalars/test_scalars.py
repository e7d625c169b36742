"""Numbers beside tensors: every operator that takes one gives the CPU's result in every data type.

The CPU rounds a number to the common type before it compares, adds or fills; products and quotients of 16-bit types
keep it in float32. The CPU refuses or wraps a number out of the type's range.
"""

import re
import warnings
from pathlib import Path

import pytest
import torch

from codegen import parse
from scalars import operators, values

YAML = Path(__file__).parents[2] / "torch_npu/csrc/aten/npu_native_functions.yaml"

# Roundings of the CPU in float16 if it rounds within the operator.
ROUNDINGS = 6
# log(1 + exp(x)) is x where exp(x) overflows, which makes the CPU's result infinite.
OVERFLOWING = {"softplus-threshold"}


def _references(name: str, call, x: torch.Tensor, number) -> list[list[torch.Tensor]]:
    """In double precision, with the number unchanged and with the number rounded to the type: these decide between
    two roundings."""
    if name not in operators.INEXACT:
        return []
    widened = x.to(torch.complex128 if x.is_complex() else torch.float64)
    numbers = [number]
    if isinstance(number, float) and not x.is_complex():
        common = torch.result_type(x, number)
        numbers.append(torch.tensor(number, dtype=common).item())
    results = [values.attempt(call, widened, n) for n in numbers]
    return [values.tensors(r) for r in results if not isinstance(r, Exception)]


def check(name: str, call, x: torch.Tensor, on_cpu, on_npu) -> bool:
    """Compares one call; False if both the CPU and npu refuse it."""
    what = f"{name}({x.dtype}, {on_cpu!r})"
    expected, actual = values.attempt(call, x, on_cpu), values.attempt(call, x.npu(), on_npu)
    if str(expected) == "ZeroDivisionError" and (torch.is_tensor(on_npu) or name.endswith("-left")):
        return False  # zeros in device memory: see docs/features.md
    if isinstance(expected, Exception):
        assert isinstance(actual, Exception), f"{what}: the CPU says {expected}, npu {actual}"
        assert type(actual) is type(expected), f"{what}: {actual!r}, not {expected!r}"
        return False
    assert not isinstance(actual, Exception), f"{what}: npu says {actual}"
    roundings = ROUNDINGS if name in operators.INEXACT else 4 if x.is_complex() else 0
    references = _references(name, call, x, on_cpu)
    for k, (e, a) in enumerate(zip(*map(values.tensors, (expected, actual)), strict=True)):
        a = a.cpu()
        assert (a.dtype, a.shape) == (e.dtype, e.shape), what
        agree = values.same(e, a, roundings)
        if not agree.all() and e.shape == x.shape:
            agree |= values.same(
                values.tensors(values.one_by_one(call, x, on_cpu))[k], a, roundings
            )
        for widened in references:
            if not agree.all() and (a.is_floating_point() or a.is_complex()):
                agree |= values.near(widened[k], a, roundings)
        if name in OVERFLOWING:
            agree |= e.isinf() & (a == x)
        if not agree.all():
            i = int((~agree).nonzero()[0][0])
            raise AssertionError(f"{what} of {x[i] if i < len(x) else '-'}: {a[i]}, not {e[i]}")
    return True


def _check_numbers(name: str, call, numbers, *, may_refuse: bool = False) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = sum(
            check(name, call, values.elements(dtype), *pair)
            for dtype in values.DTYPES
            for pair in numbers
        )
    assert compared > 0 or may_refuse


@pytest.mark.parametrize("name", operators.OPERANDS)
def test_number(name: str) -> None:
    _check_numbers(name, operators.OPERANDS[name], [(n, n) for n in values.NUMBERS])


@pytest.mark.parametrize("name", operators.ATTRIBUTES)
def test_attribute(name: str) -> None:
    _check_numbers(name, operators.ATTRIBUTES[name], [(n, n) for n in values.NUMBERS])


def _single(dtype: torch.dtype) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Tensors without dimensions of ``dtype``, on both devices."""
    found = []
    for number in values.NUMBERS:
        if dtype in values.INTEGRAL and not (
            isinstance(number, int) and torch.iinfo(dtype).min <= number <= torch.iinfo(dtype).max
        ):
            continue
        if dtype in values.FLOATING and not isinstance(number, float):
            continue
        tensor = torch.tensor(number, dtype=torch.float64 if dtype in values.FLOATING else None)
        found.append((tensor.to(dtype), tensor.to(dtype).npu()))
    return found


@pytest.mark.parametrize(
    "single", [torch.float32, torch.float16, torch.int64, torch.uint8], ids=str
)
@pytest.mark.parametrize("name", {**operators.OPERANDS, **operators.TENSORS})
def test_tensor_without_dimensions(name: str, single: torch.dtype) -> None:
    call = {**operators.OPERANDS, **operators.TENSORS}[name]
    _check_numbers(name, call, _single(single), may_refuse=single.is_floating_point)  # shifts


# Entries whose numbers are not operands: factors of sums, orders of norms, degrees of freedom.
ELSEWHERE = {
    "addmm": "tests/aclnn/test_matmul.py",
    "baddbmm": "tests/aclnn/test_matmul.py",
    "addmv": "tests/aclnn/test_matmul.py",
    "linalg_vector_norm": "tests/aclnn/test_reduce.py",
    "_foreach_norm": "tests/aclnn/test_foreach.py",
    "std": "tests/aclnn/test_reduce.py",
    "var": "tests/aclnn/test_reduce.py",
    "std_mean": "tests/aclnn/test_reduce.py",
    "var_mean": "tests/aclnn/test_reduce.py",
}


def test_every_entry_with_a_number_has_a_case() -> None:
    functions = parse.native_functions()
    settings = parse.read_settings(YAML, functions)
    taking = {
        operator.name.split(".")[0].rstrip("_")
        for operator in parse.aclnn_operators(settings, functions)
        if any(route.number for route in operator.routes)
        or any(re.search(r"at::Scalar\b", a.type) for a in operator.arguments)
    }
    cases = {**operators.OPERANDS, **operators.TENSORS, **operators.ATTRIBUTES}
    named = {re.split(r"[-.]", name)[0].rstrip("_") for name in cases} | {"fill"}
    assert taking - named - set(ELSEWHERE) == set()
