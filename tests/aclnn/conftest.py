"""The operator library under test: the checkout's, or the one in the folder that SOFTNPU_LIBRARIES names."""

import os
from pathlib import Path

import pytest

from tests.aclnn.library import ROOT, Library


@pytest.fixture(scope="session")
def library() -> Library:
    folder = os.environ.get("SOFTNPU_LIBRARIES", ROOT / "build/python/torch_npu/lib/cann")
    return Library(Path(folder))
