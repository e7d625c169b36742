"""The program's tests, on npu and compared with the CPU."""

import torch
from normalize import normalize


def test_on_npu_as_on_the_cpu() -> None:
    """The same numbers on both devices."""
    rows = torch.randn(64, 32)
    torch.testing.assert_close(normalize(rows.to("npu")).cpu(), normalize(rows))


def test_the_result_stays_on_the_device() -> None:
    """No step moves to the CPU."""
    assert normalize(torch.ones(2, 2, device="npu")).device.type == "npu"
