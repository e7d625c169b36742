"""Weights that are packed for products: a kernel or a value that is written to one is seen by the next product."""

import os
import subprocess
from pathlib import Path

import pytest

from torch_npu.ascendc.compiler import Options, build

SOURCE = Path(__file__).parent / "kernels" / "weights.asc"
# What each writer adds to the first element of the product.
WRITERS = {
    "aclrtLaunchKernelWithHostArgs": 512,
    "<<<>>>": 512,
    "structure": 512,
    "table": 512,
    "aclrtValueWrite": 1,
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    links = ("-lopapi", "-lnnopbase")
    build(Options((SOURCE,), ("-O1",), links), folder / "libweights.so")
    build(Options((SOURCE,), ("-O1",), links, is_shared=False), folder / "weights")

    def run(writer: str) -> list[str]:
        done = subprocess.run(
            [folder / "weights", folder / "libweights.so", writer],
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return run


@pytest.mark.parametrize("writer", WRITERS)
def test_the_next_product_uses_the_new_weight(writer: str, program) -> None:
    if writer in ("structure", "table") and os.environ.get("SOFTNPU_PROTECT") == "1":
        pytest.skip("kernels cannot use addresses that are no arguments where memory is protected")
    assert program(writer) == [str(WRITERS[writer])] * 2
