"""Marks and ranges of mstx in the profile."""

import threading

import fresh  # noqa: F401 - the path of the tests
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

mstx = torch.npu.mstx


def api(*names):
    return pytest.mark.api(
        *(f"torch.npu.mstx.{cls}{name}" for name in names for cls in ("", "mstx."))
    )


@pytest.fixture
def recorded():
    """A function that runs another under the profiler and gives the ranges as {name: (start, end)} in us."""

    def record(work):
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            work()
        return {
            event.name: (event.time_range.start, event.time_range.end)
            for event in profiler.events()
        }

    return record


def add():
    return torch.ones(4, device="npu") + 1


@pytest.mark.api("torch.npu.mstx", "torch.npu.mstx.mstx")
@api("range_push", "range_pop")
def test_pushed_ranges_are_nested(recorded):
    numbers = []

    def work():
        numbers.append(mstx.range_push("outer"))
        numbers.append(mstx.range_push("inner", torch.npu.current_stream()))
        add()
        numbers.append(mstx.range_pop())
        numbers.append(mstx.range_pop())

    ranges = recorded(work)
    assert numbers == [0, 1, 1, 0]
    assert torch.npu.mstx.mstx is torch.npu.mstx is mstx
    assert ranges["outer"][0] <= ranges["inner"][0] < ranges["inner"][1] <= ranges["outer"][1]
    start, end = ranges["aten::add"]
    assert ranges["inner"][0] <= start < end <= ranges["inner"][1]


@api("range_push", "range_pop")
def test_a_pop_without_a_push_is_none(recorded):
    assert mstx.range_pop() == -1
    assert mstx.range_push("x", domain="other") == 0
    assert mstx.range_pop() == -1
    assert mstx.range_pop("other") == 0
    mstx.range_push("of this thread")
    popped = []
    thread = threading.Thread(target=lambda: popped.append(mstx.range_pop()))
    thread.start()
    thread.join()
    assert popped == [-1]
    assert mstx.range_pop() == 0


@api("range_start", "range_end")
def test_started_ranges_may_overlap(recorded):
    numbers = []

    def work():
        numbers.append(mstx.range_start("first"))
        numbers.append(mstx.range_start("second", domain="part"))
        mstx.range_end(numbers[0])
        add()
        mstx.range_end(numbers[1], "part")

    ranges = recorded(work)
    assert numbers[0] > 0
    assert numbers[1] == numbers[0] + 1
    first, second = ranges["first"], ranges["part: second"]
    assert first[0] <= second[0] <= first[1] <= second[1]


@api("range_end")
@pytest.mark.parametrize("number", [12345678, "1", None])
def test_unknown_ranges_warn(number):
    with pytest.warns(UserWarning, match="is no open range of domain"):
        mstx.range_end(number)


@api("range_end")
def test_a_range_ends_once_and_in_its_domain():
    number = mstx.range_start("once")
    with pytest.warns(UserWarning, match="is no open range of domain 'other'"):
        mstx.range_end(number, "other")
    mstx.range_end(number)
    with pytest.warns(UserWarning, match="is no open range"):
        mstx.range_end(number)


@api("mark")
def test_marks_are_in_the_profile(recorded):
    def work():
        mstx.mark("here")
        mstx.mark("there", torch.npu.current_stream(), "part")

    ranges = recorded(work)
    assert {"here", "part: there"} <= set(ranges)


@api("mstx_range", "annotate")
def test_functions_are_ranges(recorded):
    @mstx.mstx_range("named")
    def three():
        """Three."""
        return 3

    @mstx.annotate()
    def four():
        return 4

    @mstx.annotate("fails")
    def fail():
        raise ValueError("no")

    def work():
        assert three() == 3
        assert four() == 4
        with pytest.raises(ValueError, match="no"):
            fail()
        with pytest.raises(ValueError, match="no"):
            fail()

    assert three.__doc__ == "Three."
    assert {"named", "four", "fails"} <= set(recorded(work))


@pytest.mark.api(
    "torch.npu.mstx.annotate.__enter__",
    "torch.npu.mstx.annotate.__exit__",
    "torch.npu.mstx.annotate.__call__",
)
def test_a_block_is_a_range(recorded):
    def work():
        with mstx.annotate("block", torch.npu.current_stream(), "part") as block:
            assert block.range_id > 0
            add()
        assert block.range_id is None
        mstx.annotate("called")(add)()

    ranges = recorded(work)
    start, end = ranges["aten::add"]
    assert ranges["called"][0] <= start < end <= ranges["called"][1] or (
        ranges["part: block"][0] <= start < end <= ranges["part: block"][1]
    )
    assert ranges["part: block"][0] < ranges["part: block"][1]


@api("mark", "range_push", "range_start", "range_pop")
@pytest.mark.parametrize(
    ("call", "result"),
    [
        (lambda: mstx.mark(""), None),
        (lambda: mstx.mark("x", stream=3), None),
        (lambda: mstx.mark("x", domain=None), None),
        (lambda: mstx.range_push(3), -1),
        (lambda: mstx.range_push("x", stream="s"), -1),
        (lambda: mstx.range_start(None), 0),
        (lambda: mstx.range_start("x", domain=""), 0),
        (lambda: mstx.range_pop(3), -1),
    ],
)
def test_invalid_arguments_warn(call, result):
    with pytest.warns(UserWarning, match=r"Invalid (message|domain|stream) for mstx\."):
        assert call() is result or call() == result
