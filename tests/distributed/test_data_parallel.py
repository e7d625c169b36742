"""DistributedDataParallel and SyncBatchNorm on two processes, against one; a case on four."""

import pytest

NAMES = (
    "plain",
    "buckets",
    "unused_parameters",
    "unused_on_one_rank",
    "bucket_view",
    "static_graph",
    "no_sync",
    "join",
    "mixed_precision",
    "compressed",
    "synchronized_batch_norm",
)


@pytest.mark.parametrize("name", NAMES)
def test_losses_are_those_of_one_process(two, name):
    two.run(f"data_parallel.{name}")


@pytest.mark.parametrize("name", ["buckets", "synchronized_batch_norm"])
def test_on_four(four, name):
    four.run(f"data_parallel.{name}")
