"""Sends and receives before a group's first collective, of two processes and of four."""

import pytest

NAMES = ("ring", "any_order", "returns_at_once", "across_a_collective", "batches", "after_reset")


@pytest.mark.parametrize("name", NAMES)
def test_two(two, name):
    two.run(f"peers.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_four(four, name):
    four.run(f"peers.{name}")
