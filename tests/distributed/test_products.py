"""Products with collectives of two processes, and of four."""

import pytest

NAMES = (
    "all_gather_base_mm",
    "mm_reduce_scatter_base",
    "experts_on_all_ranks",
    "all_to_all",
    "quantized",
    "experts_by_ids",
)


@pytest.mark.parametrize("name", NAMES)
def test_two(two, name):
    two.run(f"products.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_four(four, name):
    four.run(f"products.{name}")
