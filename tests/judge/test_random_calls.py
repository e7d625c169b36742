"""The fuzzer judges as OpInfo does: it refuses planted errors in draws and accepts rounding. No device is needed."""

import os
import random
import signal

import pytest
import torch
from fuzz import layouts
from fuzz.draw import Drawer, Drawn, Name
from fuzz.kinds import _TABLE, kind_of_operator
from fuzz.outcome import fault_in
from fuzz.recorded import _OWN, UNRECORDED, entries
from fuzz.run import MISREADS, results, run
from fuzz.side import CpuSide, answer, layout_problems, packed, unpacked

from torch_npu.accuracy import Kind

EPS = torch.finfo(torch.float32).eps


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


CALLS = {
    "add": Drawn("aten.add.Tensor", (randn(20), randn(20, seed=1)), {"alpha": 3}),
    "exp": Drawn("aten.exp.default", (randn(30),), {}),
    "gelu_backward": Drawn("aten.gelu_backward.default", (randn(30), randn(30, seed=1)), {}),
    "mm": Drawn("aten.mm.default", (randn(5, 40), randn(40, 6, seed=1)), {}),
    "sum": Drawn("aten.sum.dim_IntList", (randn(3, 200), [1]), {}),
    "_softmax": Drawn("aten._softmax.default", (randn(4, 30), 1, False), {}),
    "native_layer_norm": Drawn("aten.native_layer_norm.default", (randn(4, 30), [30], None, None, 1e-5), {}),
    "_foreach_exp": Drawn("aten._foreach_exp.default", ([randn(3), randn(4, seed=1)],), {}),
    "sqrt": Drawn("aten.sqrt.default", (torch.arange(1, 9),), {}),
    "_upsample_bilinear2d_aa": Drawn("aten._upsample_bilinear2d_aa.default", (randn(1, 2, 8, 9), [5, 14], False), {}),
    "_upsample_bicubic2d_aa": Drawn("aten._upsample_bicubic2d_aa.default", (randn(1, 2, 8, 9), [5, 14], False), {}),
    "_foreach_norm": Drawn("aten._foreach_norm.Scalar", ([randn(20), randn(30, seed=1)], 0.5), {}),
}  # fmt: skip


def largest(t: torch.Tensor) -> int:
    return int(t.abs().argmax())


@pytest.mark.parametrize("operator", CALLS)
@pytest.mark.parametrize("factor", [1 + 1e-2, 1 - 1e-3, -1.0, 0.0, float("nan"), float("inf")])
def test_one_wrong_element_is_refused(operator, factor):
    call = CALLS[operator]
    actual = run(call)
    assert not fault_in(operator, call, list(actual))
    flat = actual[0].view(-1)
    flat[largest(flat)] *= factor
    assert "1 of" in fault_in(operator, call, actual)


def test_a_mean_over_several_dimensions_rounds_as_often_as_it_has_terms():
    x = randn(5, 5, 5).double()
    x -= x.mean() * (1 - 1e-3)
    call = Drawn("aten.var_mean.correction", (x,), {})
    magnitude = torch.finfo(torch.float64).eps * x.abs().mean()
    for errors, is_refused in ((5, False), (500, True)):
        actual = run(call)
        actual[1] += errors * magnitude
        assert bool(fault_in("var_mean", call, actual)) is is_refused


@pytest.mark.parametrize("operator", CALLS)
def test_a_rounding_is_not_an_error(operator):
    call = CALLS[operator]
    actual = run(call)
    actual[0] *= 1 + EPS
    assert not fault_in(operator, call, actual)


def test_each_part_of_an_infinite_complex_number_counts():
    call = Drawn("aten.log2.default", (torch.zeros(3, dtype=torch.complex64),), {})
    near, far = run(call), run(call)
    near[0] = torch.complex(near[0].real, near[0].imag + 1e-45)
    assert not fault_in("log2", call, near)
    far[0] = torch.complex(far[0].real, far[0].imag + 1e-3)
    assert "3 of" in fault_in("log2", call, far)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_judging_leaves_the_arguments(dtype):
    x = torch.log_softmax(randn(5, 6).to(dtype), 1)
    call = Drawn(
        "aten._log_softmax_backward_data.default", (randn(5, 6, seed=1).to(dtype), x, 1, dtype), {}
    )
    before = [t.clone() for t in call.tensors]
    actual = run(call)
    actual[0] *= 1.5
    assert fault_in("_log_softmax_backward_data", call, actual)
    assert all(map(torch.equal, call.tensors, before))


def test_infinite_parts_of_complex_numbers_may_differ():
    x = torch.full((4,), 1e30 + 1e30j)
    call = Drawn("aten.cumprod.default", (x, 0), {})
    actual = run(call)
    actual[0][-1] = complex(float("nan"), float("inf"))
    assert not fault_in("cumprod", call, list(actual))
    actual[0][-1] = 1e30 + 1e30j
    assert "1 of" in fault_in("cumprod", call, actual)


def test_subnormal_products_of_bfloat16_may_be_flushed_and_no_others():
    x = torch.tensor([1e-20, 1.0, 1e-20]).bfloat16()
    call = Drawn("aten.mm.default", (x[:2].diag(), x.view(3, 1)[1:].flip(0)), {})
    actual = run(call)
    assert 0 < actual[0][0] < torch.finfo(torch.float32).tiny
    actual[0][0] = 0
    assert not fault_in("mm", call, actual)
    actual[0][1] = 0
    assert "1 of" in fault_in("mm", call, actual)


def test_the_border_of_antialiasing_does_not_loosen_other_bounds():
    x = randn(1, 1, 10, 20)
    call = Drawn("aten._upsample_bilinear2d_aa.default", (x, [8, 20], True, 0.97, 1.0), {})
    actual = run(call)
    assert not fault_in("_upsample_bilinear2d_aa", call, list(actual))
    actual[0][0, 0, 3, 7] += 1e-3
    assert "1 of" in fault_in("_upsample_bilinear2d_aa", call, actual)


def test_a_large_operand_excuses_no_small_result():
    # A bound by the product of the largest operands would allow 4e7 roundings here.
    a, b = randn(5, 40), randn(40, 6, seed=1)
    a[0] *= 1e7
    call = Drawn("aten.mm.default", (a, b), {})
    actual = run(call)
    actual[0][3, 3] += 1e-3
    assert "1 of 30 elements are wrong; the worst at (3, 3)" in fault_in("mm", call, actual)


def test_small_results_of_elementwise_operators_have_digits_of_their_own():
    call = Drawn("aten.exp.default", (torch.tensor([-20.0, 50.0, 1.0]),), {})
    actual = run(call)
    actual[0][0] *= 1 + 32 * EPS
    assert "at (0,)" in fault_in("exp", call, actual)


def test_moved_or_selected_elements_are_exact():
    call = Drawn("aten.index_select.default", (randn(5, 3), 0, torch.tensor([1, 4])), {})
    actual = run(call)
    actual[0][1, 1] *= 1 + EPS
    assert fault_in("index_select", call, actual)
    call = Drawn("aten.argmax.default", (torch.tensor([1.0, 2.0, 2.0]),), {})
    assert fault_in("argmax", call, [torch.tensor(2), call.args[0]])


def test_a_changed_argument_is_detected():
    call = CALLS["exp"]
    result, given = run(call)
    given[3] += 1
    assert "result 1: 1 of 30" in fault_in("exp", call, [result, given])


def test_a_wrong_shape_or_type_is_detected():
    call = CALLS["exp"]
    result, given = run(call)
    assert "is torch.float64" in fault_in("exp", call, [result.double(), given])
    assert "is torch.float32 [1, 30]" in fault_in("exp", call, [result[None], given])


def test_a_cpu_that_misreads_strides_is_reported(monkeypatch):
    call = Drawn("aten.exp.default", (randn(4, 8).t(),), {})
    right = run(call)

    def misread(drawn, device="cpu", *, dense=False):
        result, given = run(drawn, device, dense=dense)
        return [result if dense else result + 1, given]

    def misread_in_double(drawn, args, kwargs):
        result, given = results(drawn, args, kwargs)
        return [result + 1, given]

    monkeypatch.setattr("fuzz.outcome.run", misread)
    monkeypatch.setattr("fuzz.outcome.results", misread_in_double)
    assert fault_in("exp", call, list(right)).startswith(MISREADS)
    wrong = [right[0] + 2, right[1]]
    assert not fault_in("exp", call, wrong).startswith(MISREADS)


def test_other_strides_and_more_memory_are_detected():
    call = CALLS["mm"]
    result, *given = run(call)
    right = packed([result, *given])
    assert not layout_problems(right, right)
    other = packed([result.t().contiguous().t(), *given])
    assert layout_problems(right, other) == ["result 0 has strides (1, 5) of (5, 6), not (6, 1)"]
    gaps = torch.zeros(10, 300)[::2, :6]
    assert "result 0 has strides (600, 1)" in layout_problems(right, packed([gaps, *given]))[0]
    large = torch.zeros(1000)[:30].view(5, 6)
    assert layout_problems(right, packed([large, *given])) == [
        "result 0 has a storage of 4000 bytes, not of at most 512"
    ]


def test_strides_of_one_element_do_not_count():
    one = torch.zeros(3, 1, 2)
    other = torch.zeros(6).as_strided((3, 1, 2), (2, 7, 1))
    assert not layout_problems(packed([one]), packed([other]))
    assert not layout_problems(packed([torch.zeros(0, 3)]), packed([torch.zeros(3, 0).t()]))


def test_draws_have_all_layouts(calls):
    drawer = Drawer(torch.load(calls, weights_only=False))
    tensors = [t for seed in range(300) for t in drawer.draw(Name("add", "float32", seed)).tensors]
    assert any(t.numel() == 0 for t in tensors)
    assert any(0 in t.stride() and t.numel() > 1 for t in tensors)
    assert any(t.t().is_contiguous() and not t.is_contiguous() for t in tensors if t.dim() == 2)
    image = torch.ones(2, 3, 4, 5)
    assert layouts.channels_last(image, random.Random(0)).stride() == (60, 1, 15, 3)


def test_every_entry_has_a_kind_and_every_name_of_the_table_is_one():
    names = {name.removeprefix("_").removesuffix("_") for name in entries()}
    assert set(_TABLE) <= names
    assert {kind_of_operator(name)[0] for name in entries()} == set(Kind)
    assert set(UNRECORDED) | set(_OWN) <= entries()
    assert kind_of_operator("_foreach_exp") == (Kind.ELEMENTWISE, False)
    assert kind_of_operator("gelu_backward") == (Kind.COMPOSED, True)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    recorded = {
        "add": [("aten.add.Tensor", (torch.ones(3, 4), torch.ones(4)), {"alpha": 2})],
        "constant_pad_nd": [("aten.constant_pad_nd.default", (torch.ones(2), [2**30, 2**30]), {})],
    }
    file = tmp_path_factory.mktemp("calls") / "calls.pt"
    torch.save(recorded, file)
    return file


@pytest.fixture
def side(calls):
    created = CpuSide(calls)
    yield created
    created.close()


def test_a_crashed_process_loses_one_draw(side):
    names = [Name("add", "float64", seed) for seed in range(3)]
    os.kill(side._process.pid, signal.SIGSTOP)
    side.ask([(name, None) for name in names])
    os.kill(side._process.pid, signal.SIGKILL)
    assert side.next() == ("died", -signal.SIGKILL)
    assert [side.next()[0] for _ in range(2)] == ["results", "results"]


def test_draws_without_enough_memory_are_refused(side):
    side.ask([(Name("constant_pad_nd", "float64", seed), None) for seed in range(3)])
    assert all("allocate memory" in side.next()[1] for _ in range(3))


def test_the_other_process_judges(side, calls):
    drawer = Drawer(torch.load(calls, weights_only=False))
    name = next(
        n
        for n in (Name("add", "float32", seed) for seed in range(99))
        if drawer.draw(n).tensors[0].numel() > 3
        and answer(drawer, n, None)[0] == "results"
        and run(drawer.draw(n))[0].isfinite().all()
    )
    right = unpacked(answer(drawer, name, None)[1])
    wrong = [right[0] * 1.001 + 1, *right[1:]]
    side.ask([(name, packed(right)), (name, packed(wrong))])
    assert side.next() == ("fault", "")
    assert "elements are wrong" in side.next()[1]
