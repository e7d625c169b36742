"""PyTorch's ModuleInfos in float32; `./dev test --part opinfo` runs them in every declared dtype."""

import pytest
import torch
from opinfo.cases import RefusedError
from torch.testing._internal.common_modules import module_db

from modules import cases


@pytest.mark.parametrize("variant", cases.ALL)
@pytest.mark.parametrize("info", module_db, ids=lambda info: info.name)
def test_module(info, variant):
    try:
        cases.ALL[variant](info, torch.float32)
    except RefusedError as reason:
        pytest.skip(f"refused: {reason}")
