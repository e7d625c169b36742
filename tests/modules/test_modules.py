"""PyTorch's ModuleInfos in float32; `./dev test --part opinfo` has every dtype that they declare."""

import pytest
import torch
from torch.testing._internal.common_modules import module_db

from modules import cases


@pytest.mark.parametrize("variant", cases.ALL)
@pytest.mark.parametrize("info", module_db, ids=lambda info: info.name)
def test_module(info, variant):
    cases.ALL[variant](info, torch.float32)
