"""Collectives in captured graphs, of two processes."""

import pytest

NAMES = ("collectives", "point_to_point", "many_replays", "a_destroyed_communicator")


@pytest.mark.parametrize("name", NAMES)
def test_two(two, name):
    two.run(f"graphs.{name}")
