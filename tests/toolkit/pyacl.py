"""The module `acl` of the built toolkit, for tests."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

TOOLKIT = Path(__file__).resolve().parents[2] / "build" / "python" / "torch_npu" / "cann"
PACKAGES = str(TOOLKIT / "python" / "site-packages")


def initialized() -> ModuleType:
    """The module, after ``acl.init``; another test of the process may have called it first (100002)."""
    sys.path.insert(0, PACKAGES)
    try:
        module = importlib.import_module("acl")
    finally:
        sys.path.remove(PACKAGES)
    assert module.init() in (0, 100002)
    return module
