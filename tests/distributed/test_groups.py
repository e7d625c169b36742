"""Groups, options, works and routes of two processes."""

import pytest

NAMES = (
    "both_backends",
    "routes",
    "new_groups",
    "options",
    "bad_options",
    "split",
    "works",
    "memory_of_unwaited_work",
    "streams",
    "profiled",
    "many",
    "many_groups",
    "ended_group",
)


@pytest.mark.parametrize("name", NAMES)
def test_group(two, name):
    two.run(f"groups.{name}")


@pytest.mark.parametrize("name", ["bad_tensors", "bad_operations"])
def test_a_bad_call_raises_and_the_group_goes_on(two, name):
    two.run(f"errors.{name}")
    two.run("errors.works_after_all")
