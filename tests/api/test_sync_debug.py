"""torch.npu.set_sync_debug_mode: operators that wait for the device warn or raise."""

import warnings

import pytest
import torch

api = pytest.mark.api(
    "torch.npu.set_sync_debug_mode",
    "torch.npu.get_sync_debug_mode",
    "torch.npu.utils.set_sync_debug_mode",
    "torch.npu.utils.get_sync_debug_mode",
)
MODULES = pytest.mark.parametrize("module", [torch.npu, torch.npu.utils], ids=["npu", "utils"])
WAITS = {
    "item": lambda x: x[0].item(),
    "cpu": lambda x: x.cpu(),
    "npu": lambda x: torch.ones(3).to("npu"),
    "nonzero": lambda x: x.nonzero(),
    "masked_select": lambda x: x.masked_select(x > 0),
}


@pytest.fixture(autouse=True)
def default():
    yield
    torch.npu.set_sync_debug_mode(0)


@api
@MODULES
def test_modes_have_names_and_numbers(module):
    assert module.get_sync_debug_mode() == 0
    for name, number in (("warn", 1), ("error", 2), ("default", 0)):
        module.set_sync_debug_mode(name)
        assert module.get_sync_debug_mode() == number
        module.set_sync_debug_mode(number)
        assert module.get_sync_debug_mode() == number
    with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`"):
        module.set_sync_debug_mode("loud")
    with pytest.raises(RuntimeError, match="expected one of 0,1,2, but got 3"):
        module.set_sync_debug_mode(3)


@pytest.mark.parametrize("name", WAITS)
def test_operators_that_wait_warn_or_raise(name):
    x = torch.ones(3, device="npu")
    torch.npu.set_sync_debug_mode("warn")
    with pytest.warns(UserWarning, match="called a synchronizing NPU operation"):
        WAITS[name](x)
    torch.npu.set_sync_debug_mode("error")
    with pytest.raises(RuntimeError, match="called a synchronizing NPU operation"):
        WAITS[name](x)


def test_other_work_does_not_alert():
    x = torch.ones(3, device="npu")
    host = torch.ones(3).pin_memory()
    torch.npu.set_sync_debug_mode("error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x + 1).mul_(2).sum()
        host.to("npu", non_blocking=True)
        x.clone().copy_(x)
        torch.npu.synchronize()
        torch.npu.current_stream().synchronize()
