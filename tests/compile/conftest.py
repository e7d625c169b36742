import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def fresh_dynamo():
    """No test sees another one's compiled code, or the shapes that made it dynamic."""
    import torch

    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
