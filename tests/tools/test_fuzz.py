"""The fuzzer's own judgement: planted errors are seen, roundings are not; a seed is one call."""

import math
import random
from types import SimpleNamespace

import pytest
import torch
from fuzz import layouts, numbers
from fuzz.compare import References, problem
from fuzz.draw import Drawer
from fuzz.indices import same_choice
from fuzz.recorded import entries


def references(wide=None, nudged=None, magnitude=0.0):
    return References({"wide": wide, "nudged": nudged}.get, lambda: magnitude)


def one(value, dtype=torch.float32):
    return [torch.tensor([1.0, value, 3.0], dtype=dtype)]


def test_equal_results_pass_without_a_reference():
    assert not problem(one(2.0), one(2.0), references())
    assert not problem(one(math.nan), one(math.nan), references())


def test_one_wrong_element_is_named():
    wide = [torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)]
    assert "1 of 3 elements, first at 1: npu 2.5" in problem(one(2.0), one(2.5), references(wide))


def test_a_rounding_passes_and_sixteen_do_not():
    wide = [torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)]
    eps = torch.finfo(torch.float32).eps
    assert not problem(one(2.0), one(2.0 * (1 + eps)), references(wide))
    assert problem(one(2.0), one(2.0 * (1 + 16 * eps)), references(wide))


def test_an_element_where_the_cpu_is_off_excuses_no_other():
    wide = [torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)]
    expected = [torch.tensor([1.5, 2.0, 3.0])]
    actual = [torch.tensor([1.0, 2.4, 3.0])]
    assert "first at 1" in problem(expected, actual, references(wide))


def test_a_cpu_that_overflowed_is_no_measure():
    wide = [torch.tensor([1.0, 2e38, 3.0], dtype=torch.float64)]
    assert not problem(one(math.inf), one(2e38), references(wide))
    assert problem(one(math.inf), one(1e38), references(wide))


def test_what_arguments_are_off_by_is_allowed():
    wide = [torch.tensor([1.0, 1e-9, 3.0], dtype=torch.float64)]
    nudged = [torch.tensor([1.0, 1e-7, 3.0], dtype=torch.float64)]
    assert problem(one(1e-9), one(5e-8), references(wide))
    assert not problem(one(1e-9), one(5e-8), references(wide, nudged))


def test_integers_have_to_be_equal_to_either():
    three, four = [torch.tensor([3])], [torch.tensor([4])]
    assert problem(three, four, references([torch.tensor([3.0], dtype=torch.float64)]))
    assert not problem(three, four, references([torch.tensor([4.0], dtype=torch.float64)]))


@pytest.mark.parametrize("other", [[torch.zeros(2)], [torch.zeros(3).double()], [], [1.0]])
def test_another_kind_of_result_is_a_problem(other):
    assert problem([torch.zeros(3)], other, references())


def test_places_of_equal_values_are_free_and_others_are_not():
    call = SimpleNamespace(args=(torch.tensor([1, 5, 5, 2]), 2), kwargs={})
    values = torch.tensor([5, 5])
    assert same_choice("topk", call, [values, torch.tensor([1, 2])], [values, torch.tensor([2, 1])])
    for wrong in ([1, 1], [1, 3], [1, 4]):
        places = torch.tensor(wrong)
        assert not same_choice("topk", call, [values, torch.tensor([1, 2])], [values, places])


def test_a_seed_is_one_call():
    recorded = {"add": [("aten.add.Tensor", (torch.ones(3, 4), torch.ones(4)), {"alpha": 2})]}
    calls = [Drawer(recorded).draw("add", seed) for seed in (0, 0, 1)]
    assert str(calls[0]) == str(calls[1])
    assert all(map(torch.equal, _flat(calls[0]), _flat(calls[1])))
    assert len({str(Drawer(recorded).draw("add", seed)) for seed in range(50)}) > 20


def _flat(call):
    return [t.nan_to_num() for t in call.args if isinstance(t, torch.Tensor)]


@pytest.mark.parametrize("layout", [layouts.permuted, layouts.sliced, layouts.shifted])
def test_a_layout_keeps_the_elements(layout):
    t = torch.arange(24.0).view(2, 3, 4)
    for seed in range(10):
        assert torch.equal(layout(t, random.Random(seed)), t)


def test_extreme_numbers_come_only_where_they_are_asked_for():
    def drawn(extremes):
        return torch.cat(
            [
                numbers.floating(
                    torch.zeros(8),
                    random.Random(seed),
                    torch.Generator().manual_seed(seed),
                    extremes=extremes,
                )
                for seed in range(200)
            ]
        )

    assert drawn(False).isfinite().all()
    assert not drawn(True).isfinite().all()


def test_entries_are_those_of_the_yaml():
    text = "\nofficial:\n  - func: add.out\n    exec: aclnnAdd\n  - func: mm\n    exec: aclnnMm\n"
    assert entries(text) == {"add", "mm"}
    assert {"add", "convolution", "native_layer_norm"} <= entries()
