"""Each entry of known_cpu_errors is an error of the CPU: shown on the CPU alone."""

import decimal
import math
import signal
import subprocess
import sys

import pytest
import torch
from fuzz.draw import Drawn
from fuzz.known_cpu_errors import KNOWN, known_cpu_error

ATEN = torch.ops.aten
PROVEN = {"div", "fmod", "remainder", "floor_divide", "hardsigmoid_backward", "mish_backward", "_foreach_div", "sinc", "im2col", "gcd",
          "reflection_pad2d", "linalg_vector_norm", "mish", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
          "logaddexp", "softplus_backward", "sinh", "cosh",
          "gelu_backward", "_adaptive_avg_pool2d", "rsub", "softplus", "_adaptive_avg_pool3d",
          "_foreach_sinh", "_foreach_cosh", "smooth_l1_loss_backward", "hardshrink_backward", "addmm",
          "hardtanh_backward", "softshrink_backward", "std", "var", "std_mean", "var_mean", "native_batch_norm", "convolution",
          "_foreach_sub",
          "_upsample_bilinear2d_aa_backward", "_upsample_bicubic2d_aa_backward"}  # fmt: skip


def test_every_entry_has_a_proof_here():
    assert set(KNOWN) == PROVEN


@pytest.mark.parametrize("operator", ["fmod", "remainder", "floor_divide"])
def test_integer_division_by_zero_raises(operator):
    x, zero = torch.tensor([7]), torch.tensor([0])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        getattr(torch, operator)(x, zero)
    overload = (
        f"aten.{operator}.default" if operator == "floor_divide" else f"aten.{operator}.Tensor"
    )
    assert known_cpu_error(operator, Drawn(overload, (x, zero), {}))
    assert not known_cpu_error(operator, Drawn(overload, (x, x), {}))
    assert not known_cpu_error(operator, Drawn(overload, (x.float(), zero.float()), {}))


def test_integer_div_by_zero_raises():
    x, zero = torch.tensor([7]), torch.tensor([0])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.div(x, zero, rounding_mode="floor")
    call = Drawn("aten.div.Tensor_mode", (x, zero), {"rounding_mode": "floor"})
    assert known_cpu_error("div", call)


def test_a_sixth_is_a_float32_number():
    one = torch.ones(1, dtype=torch.float64)
    wrong = ATEN.hardsigmoid_backward(one, one * 0).item()
    assert wrong == torch.tensor(1 / 6, dtype=torch.float32).item()
    assert abs(wrong - 1 / 6) > 1e-9
    assert known_cpu_error("hardsigmoid_backward", Drawn("", (one, one), {}))
    assert not known_cpu_error("hardsigmoid_backward", Drawn("", (one.float(), one.float()), {}))


def test_mish_of_infinity_has_no_nan():
    large, infinite = torch.full((20,), 1e30), torch.full((20,), float("inf"))
    one = torch.ones(20)
    assert (ATEN.mish_backward(one, large) == 1).all()
    assert ATEN.mish_backward(one, infinite).isnan().all()
    assert known_cpu_error("mish_backward", Drawn("", (one, infinite), {}))
    assert not known_cpu_error("mish_backward", Drawn("", (one, large), {}))
    assert not known_cpu_error("mish_backward", Drawn("", (one, -infinite), {}))


def test_complex_division_by_negative_zero_divides_by_zero():
    x = torch.tensor([-1 - 1j])
    assert (x / -0.0).equal(x / 0.0)
    assert (x / -0.0).real.item() == -float("inf")
    assert (x.real / -0.0).item() == float("inf")
    for operator, args in (("div", (x, -0.0)), ("_foreach_div", ([x], [-0.0]))):
        assert known_cpu_error(operator, Drawn("", args, {}))
    assert not known_cpu_error("div", Drawn("", (x.real, -0.0), {}))
    assert not known_cpu_error("_foreach_div", Drawn("", ([x], [1.0]), {}))


def test_sinc_of_integers_is_the_error_of_pi():
    x = torch.arange(1, 20)
    assert (torch.sinc(x) != 0).any()
    assert (torch.sinc(x).double().abs() > torch.sinc(x.double()).abs() * 1e6).any()
    assert known_cpu_error("sinc", Drawn("", (x,), {}))
    assert not known_cpu_error("sinc", Drawn("", (x.float(),), {}))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_the_gradient_of_antialiased_resizing_is_not_that_of_the_forward_pass(mode):
    forward = getattr(ATEN, f"_upsample_{mode}2d_aa")
    backward = getattr(ATEN, f"_upsample_{mode}2d_aa_backward")
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, 1, 4, 6, generator=generator, dtype=torch.float64)
    g = torch.randn(1, 1, 5, 6, generator=generator, dtype=torch.float64)

    def products(scale):
        """The inner products of a linear function and of its transpose, which are equal."""
        size = ([5, 6], False, None, scale)
        given = backward(g, [5, 6], [1, 1, 4, 6], False, None, scale)
        return (forward(x, *size) * g).sum().item(), (x * given).sum().item()

    assert products(None)[0] == pytest.approx(products(None)[1], abs=1e-12)
    forward_product, backward_product = products(0.7)
    assert abs(forward_product - backward_product) > 1e-3
    args = (g, [5, 6], [1, 1, 4, 6], False, None, 0.7)
    operator = f"_upsample_{mode}2d_aa_backward"
    assert known_cpu_error(operator, Drawn("", args, {}))
    assert not known_cpu_error(operator, Drawn("", (*args[:5], None), {}))


def test_im2col_of_no_images_has_a_negative_size():
    attributes = ([2, 2], [2**32 + 1, 1], [0, 0], [1, 2])
    args = (torch.zeros(0, 1, 5, 5), *attributes)
    assert min(ATEN.im2col(*args).shape) < 0
    assert known_cpu_error("im2col", Drawn("", args, {}))
    assert not known_cpu_error("im2col", Drawn("", (torch.zeros(1, 1, 5, 5), *attributes), {}))
    assert not known_cpu_error("im2col", Drawn("", (args[0], [2, 2], [1, 1], [0, 0], [1, 2]), {}))


def test_gcd_of_the_smallest_integer_is_negative():
    least, six = torch.tensor([-128], dtype=torch.int8), torch.tensor([6], dtype=torch.int8)
    assert torch.gcd(least, six).item() == -2
    assert torch.gcd(least.long(), six.long()).item() == 2
    assert known_cpu_error("gcd", Drawn("", (least, six), {}))
    assert not known_cpu_error("gcd", Drawn("", (six, six), {}))


def test_reflection_of_no_images_has_a_negative_size():
    args = (torch.zeros(0, 3, 3, 3), [0, 2, -(2**62), 1])
    assert min(ATEN.reflection_pad2d(*args).shape) < 0
    assert known_cpu_error("reflection_pad2d", Drawn("", args, {}))
    assert not known_cpu_error(
        "reflection_pad2d", Drawn("", (torch.zeros(1, 3, 3, 3), args[1]), {})
    )
    assert not known_cpu_error("reflection_pad2d", Drawn("", (args[0], [0, 2, 0, 1]), {}))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_antialiased_resizing_reads_beyond_its_input(mode):
    memory = torch.full((1000,), float("nan"))
    memory[:50] = 1
    x = memory[:50].view(1, 1, 5, 10)
    forward = getattr(ATEN, f"_upsample_{mode}2d_aa")
    assert forward(x, [5, 4], False, None, 0.1).isnan().any()
    torch.testing.assert_close(forward(x, [5, 4], False, None, 0.4), torch.ones(1, 1, 5, 4))
    operator = f"_upsample_{mode}2d_aa"
    name = f"aten.{operator}.default"
    assert known_cpu_error(operator, Drawn(name, (x, [5, 4], False, None, 0.1), {}))
    assert not known_cpu_error(operator, Drawn(name, (x, [5, 4], False, None, 0.4), {}))
    backward = (torch.ones(1, 1, 5, 4), [5, 4], [1, 1, 5, 10], False, None)
    name = f"aten.{operator}_backward.default"
    assert known_cpu_error(f"{operator}_backward", Drawn(name, (*backward, 0.1), {}))
    assert not known_cpu_error(f"{operator}_backward", Drawn(name, (*backward, 0.4), {}))


def test_the_norm_of_one_element_is_its_magnitude():
    x = torch.tensor(3.5, dtype=torch.float64)
    for dtype, order in ((torch.bfloat16, 100), (torch.float32, 100), (torch.float64, 2**31 - 1)):
        assert torch.linalg.vector_norm(x.to(dtype), order, [0]).isinf()
        args = (x.to(dtype), order, [0], False)
        assert known_cpu_error("linalg_vector_norm", Drawn("", args, {}))
    assert torch.linalg.vector_norm(x, 100, [0]).item() == pytest.approx(3.5)
    assert not known_cpu_error("linalg_vector_norm", Drawn("", (x, 100, [0], False), {}))
    assert not known_cpu_error("linalg_vector_norm", Drawn("", (x.expand(2), 2**31 - 1, [0]), {}))


def test_subnormal_exponentials_have_lost_digits():
    x = torch.tensor([-716.25], dtype=torch.float64)
    with decimal.localcontext(prec=40):
        number = decimal.Decimal("-716.25")
        exact = float(number * number.exp())
    assert abs(exact) > torch.finfo(torch.float64).tiny / 10
    assert abs(torch.nn.functional.mish(x).item() - exact) > 1e-14 * abs(exact)
    assert known_cpu_error("mish", Drawn("", (x,), {}))
    assert not known_cpu_error("mish", Drawn("", (x.float(),), {}))
    assert not known_cpu_error("mish", Drawn("", (x / 2,), {}))


def test_a_remainder_with_an_infinite_quotient_is_nan():
    x = torch.full((20,), -4.5, dtype=torch.float64)
    least = torch.full((20,), torch.finfo(torch.float64).tiny, dtype=torch.float64)
    assert torch.remainder(x, least).isnan().any()
    assert math.fmod(-4.5, torch.finfo(torch.float64).tiny) == 0
    assert torch.fmod(x, least).isnan().any()
    assert known_cpu_error("remainder", Drawn("", (x, least), {}))
    assert known_cpu_error("fmod", Drawn("", (x, least), {}))
    assert not known_cpu_error("remainder", Drawn("", (x, least * 1e20), {}))


def test_logaddexp_of_complex_numbers_overflows():
    x, y = torch.tensor([0.4 - 15j, 740.3 - 0.2j], dtype=torch.complex128).unbind()
    assert torch.logaddexp(x, y).isnan()
    assert torch.logaddexp(x.real, y.real) == y.real
    assert torch.logaddexp(x.real, y).isnan()
    assert known_cpu_error("logaddexp", Drawn("", (x, y), {}))
    assert known_cpu_error("logaddexp", Drawn("", (x.real, y.to(torch.complex64)), {}))
    assert not known_cpu_error("logaddexp", Drawn("", (x, y - 100), {}))
    assert not known_cpu_error("logaddexp", Drawn("", (x.real, y.real), {}))


def test_softplus_of_infinity_has_no_nan():
    grad, x = torch.ones(20), torch.full((20,), 10.0)
    assert ATEN.softplus_backward(grad, x, 129, 2**31).isnan().all()
    assert (ATEN.softplus_backward(grad, x, 1.29, 2**31) - 1).abs().max() < 1e-5
    assert known_cpu_error("softplus_backward", Drawn("", (grad, x, 129, 2**31), {}))
    assert not known_cpu_error("softplus_backward", Drawn("", (grad, x, 1.29, 2**31), {}))
    assert not known_cpu_error("softplus_backward", Drawn("", (grad, x, 129, 20), {}))
    assert torch.nn.functional.softplus(x, 129, 2**31).isinf().all()
    assert known_cpu_error("softplus", Drawn("", (x, 129, 2**31), {}))
    assert known_cpu_error("softplus", Drawn("", (x, 129, float("nan")), {}))
    assert not known_cpu_error("softplus", Drawn("", (x, 129), {}))


@pytest.mark.parametrize("operator", ["sinh", "cosh"])
def test_vectorized_functions_overflow_too_early(operator):
    x = torch.full((20,), 710.4, dtype=torch.float64)
    assert getattr(torch, operator)(x).isinf().any()
    assert math.isfinite(getattr(math, operator)(710.4))
    assert getattr(torch, f"_foreach_{operator}")([x])[0].isinf().any()
    assert known_cpu_error(f"_foreach_{operator}", Drawn("", ([x],), {}))
    assert known_cpu_error(operator, Drawn("", (x,), {}))
    assert not known_cpu_error(operator, Drawn("", (x - 1,), {}))
    assert not known_cpu_error(operator, Drawn("", (x.float(),), {}))


def test_pooling_of_no_images_has_a_negative_size():
    x = torch.zeros(0, 8, 1, 8)
    assert min(ATEN._adaptive_avg_pool2d(x, [1, -1]).shape) < 0
    assert min(ATEN._adaptive_avg_pool3d(x[..., None], [1, 1, -1]).shape) < 0
    assert known_cpu_error("_adaptive_avg_pool3d", Drawn("", (x[..., None], [1, 1, -1]), {}))
    assert known_cpu_error("_adaptive_avg_pool2d", Drawn("", (x, [1, -1]), {}))
    assert not known_cpu_error("_adaptive_avg_pool2d", Drawn("", (x, [1, 1]), {}))
    assert not known_cpu_error(
        "_adaptive_avg_pool2d", Drawn("", (torch.ones(1, 8, 1, 8), [1, -1]), {})
    )


def test_an_integer_beyond_float16_makes_nan():
    grad, x = torch.tensor([-(10**6)]), torch.tensor([-30.0]).half()
    for operator, rest in (
        ("gelu_backward", {}),
        ("softplus_backward", {"beta": 9, "threshold": 20}),
    ):
        slope = getattr(ATEN, operator)
        assert slope(grad, x, **rest).isnan()
        assert slope(grad.double(), x.double(), **rest).isfinite()
        args = (grad, x, *rest.values())
        assert known_cpu_error(operator, Drawn("", args, {}))
        assert not known_cpu_error(operator, Drawn("", (grad // 1000, *args[1:]), {}))


def test_vectors_divide_by_an_integer_beta_of_0():
    program = """if True:
        import torch
        y = torch.ones(20, dtype=torch.int32)
        torch.ops.aten.smooth_l1_loss_backward(y, y, 3 * y, 0, 0.5)
    """
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGFPE
    y = torch.ones(2, dtype=torch.int32)
    assert known_cpu_error("smooth_l1_loss_backward", Drawn("", (y, y, y, 0, 0.5), {}))
    assert not known_cpu_error("smooth_l1_loss_backward", Drawn("", (y, y, y, 0, 1.5), {}))
    assert not known_cpu_error("smooth_l1_loss_backward", Drawn("", (y, y.float(), y, 0, 0.5), {}))


def test_results_with_nan_bounds_depend_on_the_length():
    nan, ones = float("nan"), torch.ones(20)
    shrinks = ("hardshrink_backward", (nan,)), ("softshrink_backward", (nan,))
    for operator, bounds in (*shrinks, ("hardtanh_backward", (nan, 2.0))):
        slope = getattr(ATEN, operator)
        assert (slope(ones, ones, *bounds)[:8] == 0).all()
        assert slope(ones[:1], ones[:1], *bounds) == 1
        assert known_cpu_error(operator, Drawn("", (ones, ones, *bounds), {}))
        assert not known_cpu_error(operator, Drawn("", (ones, ones, 0.5, 0.6), {}))


def test_each_term_is_multiplied_by_an_infinite_alpha():
    x, a, b = torch.zeros(1, 1), torch.tensor([[1.0, -0.5]]), torch.ones(2, 1)
    infinite = {"alpha": -float("inf")}
    assert torch.addmm(x, a, b, **infinite).isnan()
    assert (infinite["alpha"] * (a @ b)).isinf()
    assert known_cpu_error("addmm", Drawn("", (x, a, b), infinite))
    assert not known_cpu_error("addmm", Drawn("", (x, a, b), {"alpha": 2}))


@pytest.mark.parametrize(
    ("operator", "call", "list_of"),
    [("rsub", torch.rsub, False), ("_foreach_sub", torch._foreach_sub, True)],
    ids=["rsub", "_foreach_sub"],
)
def test_alpha_is_negated(operator, call, list_of):
    x = torch.ones(2, dtype=torch.int32)

    def arguments(first):
        return ([first], [x]) if list_of else (first, x)

    with pytest.raises(RuntimeError, match="without overflow"):
        call(*arguments(x), alpha=-(2**31))
    result = call(*arguments(x), alpha=1 - 2**31)
    assert (result[0] if list_of else result).tolist() == [-(2**31)] * 2
    assert known_cpu_error(operator, Drawn("", arguments(x), {"alpha": -(2**31)}))
    assert not known_cpu_error(operator, Drawn("", arguments(x), {"alpha": 1 - 2**31}))
    assert not known_cpu_error(operator, Drawn("", arguments(x.float()), {"alpha": -(2**31)}))


def test_the_variance_of_equal_doubles_is_not_zero():
    x = torch.full((1,), -0.2254, dtype=torch.float64).expand(3)
    assert x.var(correction=0) > 0
    assert x.std(correction=3) == float("inf")
    for operator in ("std", "var", "std_mean", "var_mean"):
        for correction in (3, 127):
            assert known_cpu_error(operator, Drawn("", (x, [0]), {"correction": correction}))
        assert not known_cpu_error(operator, Drawn("", (x, [0]), {"correction": 2}))
        assert not known_cpu_error(operator, Drawn("", (x.float(), [0]), {"correction": 3}))
        different = torch.arange(3, dtype=torch.float64)
        assert not known_cpu_error(operator, Drawn("", (different, [0]), {"correction": 3}))


def test_batch_norm_subtracts_after_it_scaled_by_infinity():
    x, mean, variance = torch.tensor([[0.25], [-0.25]]), torch.tensor([1.0]), torch.zeros(1)
    args = (x, None, None, mean, variance, False, 0.1, 0.0)
    assert ATEN.native_batch_norm(*args)[0][0].isnan()
    assert ((x - mean) * torch.rsqrt(variance)).isinf().all()
    assert known_cpu_error("native_batch_norm", Drawn("", args, {}))
    assert not known_cpu_error("native_batch_norm", Drawn("", (*args[:-1], 1e-5), {}))
    assert not known_cpu_error("native_batch_norm", Drawn("", (*args[:5], True, 0.1, 0.0), {}))


def test_a_window_that_is_too_long_wraps():
    # oneDNN supports float32 and on some CPUs 16-bit types, and refuses float64.
    x, weight = torch.ones(2, 2, 4).double(), torch.ones(2, 1, 4).double()
    args = (x, weight, torch.ones(2).double(), [1], [3], [2**62], False, [0], 2)
    assert ATEN.convolution(*args).shape == (2, 2, 10)
    assert known_cpu_error("convolution", Drawn("", args, {}))
    assert not known_cpu_error("convolution", Drawn("", (*args[:5], [2**61], *args[6:]), {}))
