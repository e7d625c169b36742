"""Every elementwise operator in every data type that PyTorch supports, in every layout, against PyTorch."""

import itertools
import math

import pytest
import torch

from tests.aclnn.cases import LAYOUTS, dtype_name, laid_out
from tests.aclnn.compare import INVALID, NULL
from tests.aclnn.elementwise import BY_HAND, REFERENCES, Reference
from tests.aclnn.library import DTYPES, AclnnError, Library, family, operators
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.accuracy.dtypes import widened

SHAPE = (5, 3, 70)


def sample(reference: Reference, dtype: torch.dtype, seed: int, shape=SHAPE) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if dtype.is_complex:
        real = torch.float64
        parts = [torch.rand(shape, generator=generator, dtype=real) for _ in range(2)]
        x = torch.complex(*[p * (reference.high - reference.low) + reference.low for p in parts])
        return x.to(dtype)
    x = torch.rand(shape, generator=generator, dtype=torch.float64)
    x = x * (reference.high - reference.low) + reference.low
    if not dtype.is_floating_point:
        x = x.mul(3).round()
        x = x.abs() if not dtype.is_signed else x
        x = torch.where((x == 0) & torch.tensor(reference.low > 0), 1, x)
    return x.to(dtype)


def tolerance(dtype: torch.dtype, expected: torch.Tensor) -> torch.Tensor:
    """A few rounding steps of the data type, and of float32 for values below 1."""
    steps = 16
    eps = torch.finfo(dtype).eps
    return steps * eps * expected.abs().clamp(min=1)


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """torch.equal, also for complex32, which it does not support."""
    if a.dtype is b.dtype is torch.complex32:
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    return torch.equal(a, b)


def assert_right(got: torch.Tensor, expected: torch.Tensor, exact: torch.Tensor | None) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if not (got.dtype.is_floating_point or got.dtype.is_complex):
        assert torch.equal(got, expected)
        return
    against = expected if exact is None else exact
    if got.is_complex():  # the direction of infinities is unspecified
        assert torch.equal(widened(got).isnan(), widened(against).isnan())
        finite = widened(against).isfinite()
        got, against = got[finite], against[finite]
    allowed = tolerance(expected.dtype, widened(against))
    accuracy.assert_close(got, against, Tolerance(absolute=allowed))


def cases():
    for name, reference in REFERENCES.items():
        for dtype in DTYPES:
            yield pytest.param(name, reference, dtype, id=f"{name}-{dtype_name(dtype)}")


def supported(
    reference: Reference, tensors: list[torch.Tensor], scalars: tuple
) -> torch.Tensor | None:
    """PyTorch's result; None if the CPU does not support the operator for this data type."""
    try:
        return reference.function(*tensors, *scalars)
    except (RuntimeError, TypeError, NotImplementedError):
        return None


def exact_result(
    reference: Reference, tensors: list[torch.Tensor], scalars: tuple, result: torch.Tensor
):
    """The result for the same inputs in double precision; None if the type is not floating point."""
    if not (result.dtype.is_floating_point or result.dtype.is_complex):
        return None
    if not all(t.dtype.is_floating_point or t.dtype.is_complex for t in tensors):
        return None
    in_float64 = [t.to(torch.complex128 if t.is_complex() else torch.float64) for t in tensors]
    return supported(reference, in_float64, scalars)


@pytest.mark.parametrize(("name", "reference", "dtype"), cases())
def test_against_pytorch(library: Library, name: str, reference: Reference, dtype: torch.dtype):
    tried = 0
    inplace = f"aclnnInplace{name}"
    for scalars in reference.scalars:
        tensors = [sample(reference, dtype, seed) for seed in range(reference.tensors)]
        if name == "SWhere":
            tensors[0] = tensors[0] != tensors[1]
        if (
            name == "IsClose"
            and not (dtype.is_floating_point or dtype.is_complex)
            and scalars[0] == 0
        ):
            continue
        expected = supported(reference, tensors, scalars)
        if expected is None:
            continue
        tried += 1
        exact = exact_result(reference, tensors, scalars, expected)
        for layout in LAYOUTS:
            other = "strided" if layout == "contiguous" else "contiguous"
            out = laid_out(torch.zeros_like(expected), other)
            library.call(f"aclnn{name}", *(laid_out(t, layout) for t in tensors), *scalars, out)
            assert_right(out, expected, exact)
        if inplace in operators() and expected.dtype == dtype:
            changed = tensors[0].clone()
            library.call(inplace, changed, *tensors[1:], *scalars)
            assert_right(changed, expected, exact)
    if not tried:
        pytest.skip("PyTorch's CPU does not have it")


def test_every_operator_is_tested():
    tested = {f"aclnn{name}" for name in REFERENCES}
    tested |= {name for name in operators() if name.replace("Inplace", "") in tested}
    elementwise = {name for name in operators() if name in tested or name in BY_HAND}
    missing = {name for name in operators() if family(name) == "elementwise"} - elementwise
    assert not missing


@pytest.mark.parametrize(
    "shapes", [((4, 1), (3,)), ((), (2, 3)), ((0, 3), (3,)), ((2,) * 9, (2,)), ((1,), ())]
)
def test_broadcasting(library: Library, shapes):
    a, b = (torch.randn(shape) for shape in shapes)
    out = torch.zeros(torch.broadcast_shapes(*shapes))
    library.call("aclnnMul", a, b, out)
    assert torch.equal(out, a * b)
    library.call("aclnnMul", a.expand(out.shape), b.expand(out.shape), out)
    assert torch.equal(out, a * b)


@pytest.mark.parametrize(("a", "b"), itertools.permutations(DTYPES, 2))
def test_promotion(library: Library, a: torch.dtype, b: torch.dtype):
    x = sample(REFERENCES["Mul"], a, 0)
    y = sample(REFERENCES["Mul"], b, 1)
    try:
        expected = x * y
    except RuntimeError as error:
        integral = not any(t.is_floating_point or t.is_complex for t in (a, b))
        if not integral or "Promotion" not in str(error):
            pytest.skip("PyTorch's CPU does not have it")
        with pytest.raises(AclnnError, match="have no common data type"):
            library.call("aclnnMul", x, y, torch.zeros(SHAPE))
        return
    out = torch.zeros_like(expected)
    library.call("aclnnMul", x, y, out)
    assert_right(out, expected, None)


@pytest.mark.parametrize(("source", "to"), itertools.product(DTYPES, repeat=2))
def test_cast(library: Library, source: torch.dtype, to: torch.dtype):
    # Values that every type has: results that C++ leaves undefined are not compared.
    x = (
        sample(REFERENCES["Abs"], source, 0).real.abs().to(source)
        if source.is_complex
        else sample(Reference(1, torch.abs, low=0), source, 0)
    )
    expected = (
        x.real.to(to)
        if source.is_complex and not to.is_complex and to is not torch.bool
        else x.to(to)
    )
    for layout in LAYOUTS:
        out = laid_out(torch.zeros(SHAPE, dtype=to), layout)
        library.call("aclnnCast", laid_out(x, layout), to, out)
        assert same(out, expected)
        out = laid_out(torch.zeros(SHAPE, dtype=to), layout)
        library.call("aclnnInplaceCopy", out, x)
        assert same(out, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants(library: Library, dtype: torch.dtype):
    for name, value in (("Zero", 0), ("One", 1)):
        x = laid_out(sample(REFERENCES["Abs"], dtype, 0), "strided")
        library.call(f"aclnnInplace{name}", x)
        assert same(x, torch.full(SHAPE, value, dtype=dtype))
    value = True if dtype is torch.bool else 3
    for fill in (value, torch.tensor(value, dtype=dtype)):
        x = sample(REFERENCES["Abs"], dtype, 0)
        kind = "Tensor" if isinstance(fill, torch.Tensor) else "Scalar"
        library.call(f"aclnnInplaceFill{kind}", x, fill)
        assert same(x, torch.full(SHAPE, value, dtype=dtype))
        mask = sample(REFERENCES["Abs"], torch.bool, 1)[:, :1]
        y = sample(REFERENCES["Abs"], dtype, 0)
        expected = torch.where(mask, x, y)
        library.call(f"aclnnInplaceMaskedFill{kind}", y, mask, fill)
        assert same(y, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_scalars_on_the_left_and_gradients_with_flags(library: Library, dtype: torch.dtype):
    x, g = (sample(Reference(1, torch.abs, low=0.5), dtype, seed) for seed in range(2))
    in_float64 = x.double()
    for name, exact in (
        ("RemainderScalarTensor", torch.remainder(2.5, in_float64)),
        ("PowScalarTensor", torch.pow(2.5, in_float64)),
        ("XLogYScalarSelf", torch.xlogy(2.5, in_float64)),
    ):
        out = torch.zeros_like(x)
        library.call(f"aclnn{name}", 2.5, x, out)
        if name == "RemainderScalarTensor":  # near a multiple of x a rounding step is a whole x
            near = (torch.remainder(2.5, in_float64) / in_float64 - 0.5).abs() > 0.45
            out, exact = out.masked_fill(near, 0), exact.masked_fill(near, 0)
        assert_right(out, exact.to(dtype), exact)
    x = x - 1.5
    out, buffer = torch.zeros_like(x), torch.zeros(0, dtype=dtype)
    library.call("aclnnLogSigmoidForward", x, out, buffer)
    exact = torch.nn.functional.logsigmoid(x.double())
    assert_right(out, exact.to(dtype), exact)
    library.call("aclnnLogSigmoidBackward", g, x, buffer, out)
    exact = g.double() * torch.sigmoid(-x.double())
    assert_right(out, exact.to(dtype), exact)
    for is_result in (False, True):
        library.call("aclnnEluBackward", g, 1.5, 1.1, 0.7, is_result, x, out)
        exact = torch.ops.aten.elu_backward(g.double(), 1.5, 1.1, 0.7, is_result, x.double())
        assert_right(out, exact.to(dtype), exact)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "name", [n for n, r in REFERENCES.items() if r.tensors == 1 and r.scalars == ((),)]
)
def test_special_values(library: Library, name: str, dtype: torch.dtype):
    """Infinities, NaN, both zeros, the largest and the smallest numbers."""
    info = torch.finfo(dtype)
    numbers = [
        math.inf,
        -math.inf,
        math.nan,
        0.0,
        -0.0,
        info.max,
        info.min,
        info.tiny,
        1.0,
        -1.0,
        100.0,
        -100.0,
    ]
    x = torch.tensor(numbers, dtype=dtype).repeat(5)
    expected = supported(REFERENCES[name], [x], ())
    if expected is None:
        pytest.skip("PyTorch's CPU does not have it")
    out = torch.zeros_like(expected)
    library.call(f"aclnn{name}", x, out)
    if name == "Gelu":  # PyTorch gives NaN or infinity for the largest numbers, which are exact
        out, expected = (t.masked_fill(x >= info.max, 0) for t in (out, expected))
    if name in ("Sin", "Cos", "Tan"):  # for the largest numbers only the range is meaningful
        huge = x.abs() > 1e4
        out, expected = out.masked_fill(huge, 0), expected.masked_fill(huge, 0)
    assert_right(out, expected, None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_many_elements_on_all_threads(library: Library, dtype: torch.dtype):
    x = torch.arange(1 << 21).remainder(97).to(dtype)
    y = torch.zeros_like(x)
    library.call("aclnnAdd", x, x, 1, y)
    assert torch.equal(y, x + x)
    y = torch.zeros(1 << 10, 1 << 11, dtype=dtype).T
    library.call("aclnnAdd", x.view(1 << 11, 1 << 10), x.view(1 << 11, 1 << 10), 1, y)
    assert torch.equal(y, (x + x).view(1 << 11, 1 << 10))


def test_bad_input(library: Library):
    x = torch.randn(2, 3)
    refused = [
        (("aclnnAdd", x, torch.randn(4), 1, x.clone()), INVALID, r"cannot be broadcast"),
        (
            ("aclnnAdd", x, x, 1, torch.zeros(3, 2)),
            INVALID,
            r"cannot be broadcast",
        ),
        (
            ("aclnnAdd", x, x, 1, torch.zeros(3)),
            INVALID,
            r"the result has the shape \[3\] where \[2, 3\]",
        ),
        (("aclnnAdd", x, None, 1, x.clone()), NULL, "other is null"),
        (("aclnnClamp", x, None, None, x.clone()), NULL, "min and max are null"),
        (("aclnnBitwiseNot", x, x.clone()), INVALID, "not defined for float32 values"),
        (
            ("aclnnGtTensor", x.cfloat(), x.cfloat(), x > 0),
            INVALID,
            "not defined for complex64 values",
        ),
        (
            ("aclnnCast", x, torch.float64, x.clone()),
            INVALID,
            "out is of float32 where dtype says float64",
        ),
        (("aclnnDivMod", x, x, 3, x.clone()), INVALID, "rounding mode 3 does not exist"),
        (("aclnnGeluV2", x, 2, x.clone()), INVALID, "approximate mode 2 does not exist"),
        (
            ("aclnnGeluBackwardV2", x, x, "fast", x.clone()),
            INVALID,
            "approximate 'fast' does not exist",
        ),
        (("aclnnCelu", x, 0.0, x.clone()), INVALID, "alpha is 0"),
    ]
    for arguments, code, message in refused:
        with pytest.raises(AclnnError, match=message) as raised:
            library.call(*arguments)
        assert raised.value.code == code


def test_no_elements_have_any_strides(library: Library) -> None:
    """Strides of 0 in dimensions of no elements, as programs compute them from the sizes after those."""
    x = torch.empty(16).as_strided((2, 0, 4), (0, 0, 1))
    out = torch.empty(16, dtype=torch.float16).as_strided((2, 0, 4), (0, 0, 1))
    library.call("aclnnCast", x, torch.float16, out)
