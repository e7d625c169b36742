"""The fuzzer's own parts: a name identifies one call, layouts keep elements, every pair gets draws."""

import random
from collections import Counter
from types import SimpleNamespace

import pytest
import torch
from fuzz import layouts, numbers
from fuzz.draw import DTYPES, Drawer, Name, parse
from fuzz.indices import same_choice
from fuzz.recorded import entries
from fuzz.schedule import BATCH, FIRST, LEAST, Schedule

from torch_npu.accuracy.structure import same_values, structure_problem

ADD = {"add": [("aten.add.Tensor", (torch.ones(3, 4), torch.ones(4)), {"alpha": 2})]}


def test_equal_results_compare_equal():
    assert same_values(
        [torch.tensor([1.0, float("nan")]), 3], [torch.tensor([1.0, float("nan")]), 3]
    )
    assert same_values([float("nan"), None], [float("nan"), None])
    half = [torch.tensor([1 + 1j]).to(torch.complex32)]
    assert same_values(half, half)
    assert not same_values(half, [(half[0].to(torch.complex64) * 2).to(torch.complex32)])
    for other in (
        [torch.tensor([1.0, 2.0])],
        [torch.tensor([1.5])],
        [torch.tensor([1.0]).double()],
        [],
        [1.0],
    ):
        assert not same_values([torch.tensor([1.0])], other)


@pytest.mark.parametrize("other", [[torch.zeros(2)], [torch.zeros(3).double()], [], [1.0], [None]])
def test_another_kind_of_result_is_a_problem(other):
    assert structure_problem([torch.zeros(3)], other)
    assert not structure_problem([torch.zeros(3)], [torch.ones(3)])


def test_only_indices_of_equal_values_may_differ():
    call = SimpleNamespace(args=(torch.tensor([1, 5, 5, 2]), 2), kwargs={})
    values = torch.tensor([5, 5])
    assert same_choice("topk", call, [values, torch.tensor([1, 2])], [values, torch.tensor([2, 1])])
    for wrong in ([1, 1], [1, 3], [1, 4]):
        places = torch.tensor(wrong)
        assert not same_choice("topk", call, [values, torch.tensor([1, 2])], [values, places])


def test_a_name_is_one_call():
    def drawn(seed):
        return Drawer(ADD).draw(Name("add", "float32", seed))

    assert str(drawn(0)) == str(drawn(0))
    assert all(map(torch.equal, _flat(drawn(0)), _flat(drawn(0))))
    assert len({str(drawn(seed)) for seed in range(50)}) > 20
    name = Name("_foreach_add", "int64", 71)
    assert parse(str(name)) == name


def _flat(call):
    return [t.nan_to_num() for t in call.tensors]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_first_operand_has_the_dtype_and_others_sometimes_another(dtype):
    calls = [Drawer(ADD).draw(Name("add", dtype, seed)) for seed in range(200)]
    assert {str(call.tensors[0].dtype) for call in calls} == {f"torch.{dtype}"}
    assert len({call.tensors[1].dtype for call in calls}) > 5


def test_indices_are_integers_and_conditions_bool():
    index = torch.tensor([0, 2])
    recorded = {
        "index_select": [("aten.index_select.default", (torch.randn(4, 3), 0, index), {})],
        "where": [("aten.where.self", (torch.ones(3) > 0, torch.ones(3), torch.ones(3)), {})],
    }
    for seed in range(50):
        chosen = Drawer(recorded).draw(Name("index_select", "uint8", seed)).args
        assert chosen[0].dtype == torch.uint8
        assert chosen[2].dtype in (torch.int32, torch.int64)
        condition, then, _ = Drawer(recorded).draw(Name("where", "float16", seed)).args
        assert (condition.dtype, then.dtype) == (torch.bool, torch.float16)


def test_some_attributes_are_extreme():
    recorded = {"roll": [("aten.roll.default", (torch.ones(3, 4), [1, 2], [0, 1]), {})]}
    calls = [Drawer(recorded).draw(Name("roll", "float32", seed)) for seed in range(3000)]
    drawn = {number for call in calls for numbers_ in call.args[1:] for number in numbers_}
    assert {2**31, 2**32, 2**62} <= drawn


@pytest.mark.parametrize("layout", [*layouts._KEEPING, layouts.negated])
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_a_layout_keeps_the_elements(layout, dtype):
    t = torch.arange(24.0).view(2, 3, 4).to(dtype)
    t = t + 1j if dtype.is_complex else t
    seen = set()
    for seed in range(30):
        result = layout(t, random.Random(seed))
        assert torch.equal(result, t)
        seen.add((result.stride(), result.storage_offset(), result.is_conj(), result.is_neg()))
    assert seen != {(t.stride(), 0, False, False)}


@pytest.mark.parametrize("layout", layouts._REPEATING)
def test_a_layout_repeats_elements_within_its_storage(layout):
    t = torch.randn(3, 5, 2)
    for seed in range(30):
        result = layout(t, random.Random(seed))
        assert result.shape == t.shape
        assert result.unique().numel() < t.numel()
        places = sum((n - 1) * s for n, s in zip(result.shape, result.stride(), strict=True))
        assert result.storage_offset() + places < result.untyped_storage().nbytes() // 4


def test_written_tensors_have_no_overlap():
    recorded = {"add": [("aten.add_.Tensor", (torch.ones(3, 4), torch.ones(3, 4)), {})]}
    for seed in range(100):
        written = Drawer(recorded).draw(Name("add", "float32", seed)).args[0]
        assert torch._debug_has_internal_overlap(written) != 1
        assert not written.is_neg()


def test_extreme_numbers_are_drawn_only_on_request():
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


def test_entries_are_those_of_the_yaml(tmp_path):
    index = tmp_path / "functions.yaml"
    index.write_text(
        "official:\n  - func: add.out\n    exec: aclnnAdd\n  - func: mm\n    exec: aclnnMm\n"
    )
    assert entries(index) == {"add", "mm"}
    assert {"add", "convolution", "native_layer_norm"} <= entries()


def _rounds(schedule, compared, takes):
    """Performs all draws of a long run whose CPU accepts every ``takes(pair)``-th draw; returns the pairs in order."""
    order = []
    for batch in schedule.until(float("inf")):
        pair = batch[0][:2]
        assert [name[:2] for name in batch] == [pair] * len(batch)
        order.append((pair, [name.seed for name in batch]))
        compared[pair] += len(batch) // takes(pair) if takes(pair) else 0
        if len(order) > 40 * len(DTYPES):
            break
    return order


def test_pairs_that_have_less_come_first_and_those_the_cpu_refuses_no_more(capsys):
    compared = Counter()
    schedule = Schedule(["add"], 1000, compared)
    seldom, never = ("add", "int8"), ("add", "bool")
    order = _rounds(schedule, compared, lambda pair: {seldom: 16, never: 0}.get(pair, 1))
    drawn = [seed for pair, seeds in order if pair == never for seed in seeds]
    assert drawn == [*range(1000, 1000 + FIRST)]
    assert not schedule.few()
    # Every pair has a batch, then the pairs with too few draws, then only the one with fewest, then all that the CPU
    # supports.
    assert [pair[1] for pair, _ in order[: len(DTYPES)]] == list(DTYPES)
    pairs = [pair for pair, _ in order]
    alone = pairs[len(DTYPES) * -(-LEAST // BATCH) :][:150]
    assert alone == [seldom] * 150
    assert len(set(pairs[-2 * len(DTYPES) :])) == len(DTYPES) - 1
    assert "every pair has 200 compared draws" in capsys.readouterr().out


def test_a_pair_with_too_few_draws_is_reported():
    compared = Counter({("add", "int8"): 199, ("add", "float32"): 200})
    assert Schedule(["add"], 0, compared).few() == ["add:int8 199"]


def test_a_fixed_round_has_the_same_draws_each_time():
    def drawn(seed):
        return [
            name for batch in Schedule(["add", "mm"], seed, Counter()).round(4) for name in batch
        ]

    assert drawn(8) == drawn(8)
    assert len(drawn(8)) == 2 * 4 * len(DTYPES)
    assert not set(drawn(8)) & set(drawn(12))
