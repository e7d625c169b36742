"""torch.npu: the current device and its initialisation."""

import fresh
import pytest
import torch


@pytest.mark.api("torch.npu.init", "torch.npu.is_initialized")
def test_init_makes_the_device_initialised_in_a_new_process():
    code = "import torch; print(torch.npu.is_initialized()); torch.npu.init(); print(torch.npu.is_initialized())"
    assert fresh.output(code).split() == ["False", "True"]


@pytest.mark.api("torch.npu.current_device", "torch.npu.device_count", "torch.npu.is_available")
def test_the_first_device_is_current():
    assert torch.npu.is_available() is True
    assert torch.npu.device_count() >= 1
    assert torch.npu.current_device() == 0
