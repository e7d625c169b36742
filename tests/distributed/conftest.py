import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ranks import Ranks


def _processes(count):
    ranks = Ranks(count)
    yield ranks
    ranks.close()


@pytest.fixture(scope="session")
def two():
    """Two processes with a device each."""
    yield from _processes(2)


@pytest.fixture(scope="session")
def four():
    """Four processes with a device each."""
    yield from _processes(4)
