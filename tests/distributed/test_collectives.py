"""Every collective of two processes, and of four, with every dtype."""

import pytest

NAMES = (
    "all_reduce",
    "all_reduce_layouts",
    "premultiplied",
    "coalesced",
    "broadcast",
    "reduce",
    "all_gather",
    "reduce_scatter",
    "scatter_and_gather",
    "all_to_all",
    "point_to_point",
    "own_peer",
    "uneven",
    "objects",
    "objects_on_npu",
    "barrier",
)


@pytest.mark.parametrize("name", NAMES)
def test_two(two, name):
    two.run(f"collectives.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_four(four, name):
    four.run(f"collectives.{name}")
