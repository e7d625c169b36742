"""The operators of namespace npu that are composed of ATen's, against their definitions in float64 on the CPU."""

import pytest
import torch
from torch.autograd import gradcheck

import torch_npu
from tests.capability.composed_families import CASES, FAMILIES
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
OVERLOADS = {"npu_max": "dim", "npu_min": "dim"}
CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")


def operator(name):
    base = name.split("-")[0]
    return getattr(getattr(OPS, base), OVERLOADS.get(base, "default"))


def mapped(case, change):
    """The arguments with their tensors changed."""
    one = lambda v: change(v) if isinstance(v, torch.Tensor) else v  # noqa: E731
    return [one(a) for a in case.args], {k: one(v) for k, v in case.kwargs.items()}


def cast(dtype):
    return lambda t: t.to(dtype) if t.is_floating_point() else t


def listed(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def check(got, expected, length):
    """`length` terms in float32 or wider, each with up to 8 roundings, and one rounding of the result."""
    if got.is_complex():
        check(torch.view_as_real(got), torch.view_as_real(expected), length)
        return
    if got.element_size() == 1 and got.is_floating_point():
        got, expected = got.view(torch.uint8), expected.view(torch.uint8)
    if not expected.numel():
        return
    if not got.is_floating_point():
        # A rounded value may be the neighbour where it was near the middle of two.
        off = (got.cpu().long() - expected.long()).abs()
        is_rounded = got.dtype == torch.int8
        assert off.max() <= is_rounded
        assert off.sum() <= is_rounded * (1 + 0.02 * off.numel())
        return
    finite = expected.isfinite()
    assert torch.equal(got.cpu().isfinite(), finite)
    if not finite.all():
        assert torch.equal(got.cpu()[~finite].double(), expected[~finite].double())
        got, expected = got.cpu()[finite], expected[finite]
    if not expected.numel():
        return
    widened = torch.finfo(torch.promote_types(got.dtype, torch.float32)).eps
    size = expected.abs().max().clamp(min=1)
    terms = 8 * length**0.5 * widened * size + torch.finfo(got.dtype).tiny
    steps = 4 * torch.finfo(got.dtype).eps  # of 16-bit values between ATen's operators
    accuracy.assert_close(got, expected, Tolerance(steps, terms + steps * size))


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    case = CASES[name]
    for dtype in case.dtypes:
        args, _ = mapped(case, cast(dtype))
        widened = mapped(case, lambda t, dtype=dtype: cast(torch.float64)(cast(dtype)(t)))
        expected = listed(case.definition(*widened[0], **widened[1]))
        given = mapped(case, lambda t, dtype=dtype: cast(dtype)(t).npu())
        results = listed(operator(name)(*given[0], **given[1]))
        length = max(t.numel() for t in args if isinstance(t, torch.Tensor))
        for got, reference in zip(results, expected, strict=True):
            assert got.device.type == "npu"
            assert got.shape == reference.shape
            check(got, reference, length)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.gradients])
def test_gradients_agree_with_finite_differences(name):
    case = CASES[name]
    args, kwargs = mapped(case, lambda t: t.npu())
    leaves = [a.requires_grad_() for a in args[: case.gradients]]

    def function(*leaves):
        results = listed(operator(name)(*leaves, *args[case.gradients :], **kwargs))
        return tuple(t for t in results if t.requires_grad)

    assert gradcheck(function, leaves, nondet_tol=0.0)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.opcheck])
def test_opcheck(name):
    case = CASES[name]
    args, kwargs = mapped(case, lambda t: cast(torch.float32)(t).npu())
    args = [a.requires_grad_() if i < case.gradients else a for i, a in enumerate(args)]
    torch.library.opcheck(operator(name), tuple(args), kwargs, test_utils=CHECKS)


@pytest.mark.parametrize("name", CASES)
def test_views_give_the_same(name):
    case = CASES[name]
    plain = mapped(case, lambda t: cast(torch.float32)(t).npu())
    spread = mapped(case, lambda t: torch.stack((t, t), -1)[..., 0].npu() if t.dim() else t.npu())
    spread = [[cast(torch.float32)(a) if isinstance(a, torch.Tensor) else a for a in spread[0]],
              {k: cast(torch.float32)(v) if isinstance(v, torch.Tensor) else v for k, v in spread[1].items()}]  # fmt: skip
    for a, b in zip(listed(operator(name)(*plain[0], **plain[1])),
                    listed(operator(name)(*spread[0], **spread[1])), strict=True):  # fmt: skip
        accuracy.assert_close(
            b, a.cpu(), Tolerance(4 * 2**-23, 4 * 2**-23)
        ) if a.is_floating_point() else torch.equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_an_argument_on_the_cpu_is_named(name):
    case = CASES[name]
    args, kwargs = mapped(case, lambda t: cast(torch.float32)(t).npu())
    schema = operator(name)._schema
    names = [a.name for a in schema.arguments]
    given = dict(zip(names, args, strict=False)) | kwargs
    for parameter, value in given.items():
        if isinstance(value, torch.Tensor):
            with pytest.raises(
                RuntimeError, match=f"npu::{schema.name[5:]}.*{parameter} is .*on cpu"
            ):
                operator(name)(**{**given, parameter: value.cpu()})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_planted_error_is_refused(family):
    """The comparison sees one wrong element of a result."""
    for name, case in FAMILIES[family].items():
        expected = listed(case.definition(*case.args, **case.kwargs))[0]
        if expected.is_floating_point() and expected.element_size() == 1:
            expected = expected.view(torch.uint8)
        wrong = expected.clone(memory_format=torch.contiguous_format)
        last = wrong.view(-1)[-1:]
        if wrong.is_floating_point():
            finite = expected[expected.isfinite()].abs().max().clamp(min=1)
            last.copy_(torch.where(last.isfinite(), last + finite / 64, 0))
            wrong = wrong.float()
        else:
            last += 1 if wrong.dtype != torch.int8 or last < 100 else -2
            last += wrong.dtype == torch.int8
        with pytest.raises(AssertionError):
            check(wrong, expected, expected.numel())
        assert name.split("-")[0] in dir(torch_npu)
