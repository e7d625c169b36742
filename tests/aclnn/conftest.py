"""The operator library under test: the checkout's, or the one in the folder SOFTNPU_LIBRARIES.

The operators that the tests ran are recorded in build/operators for ``./dev operators``.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.aclnn.library import ROOT, Library

RECORDS = ROOT / "build" / "operators"


@pytest.fixture(scope="session")
def library() -> Iterator[Library]:
    folder = os.environ.get("SOFTNPU_LIBRARIES", ROOT / "build/python/torch_npu/lib/cann")
    result = Library(Path(folder))
    yield result
    RECORDS.mkdir(parents=True, exist_ok=True)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    (RECORDS / f"{worker}-{os.getpid()}.json").write_text(json.dumps(sorted(result.ran)))
