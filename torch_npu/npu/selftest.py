"""``stress_detect``: checks that the device computes what it should."""

import torch

from torch_npu._core.warnings import warn

_SIZE = 512
_ROUNDS = 4


def _products_are_exact() -> bool:
    """Products of small integers, which float32 holds exactly, on the device and on the host."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(_ROUNDS):
        a, b = (
            torch.randint(-64, 65, (_SIZE, _SIZE), generator=generator, dtype=torch.float32)
            for _ in range(2)
        )
        if not torch.equal((a.npu() @ b.npu()).cpu(), a @ b):
            return False
        if not torch.equal((a.npu() * b.npu()).sum(1).cpu(), (a * b).sum(1)):
            return False
    return True


def stress_detect(detect_type: str = "aic") -> int:
    """Checks the device by products and sums whose results are known exactly.

    Args:
        detect_type: ``"aic"``, the cores. ``"hccs"``, the links between devices, which a software NPU does not have.

    Returns:
        0, all results were right; 1, an unknown type, or results were wrong.

    Raises:
        RuntimeError: ``detect_type`` is ``"hccs"``.
    """
    if detect_type == "hccs":
        raise RuntimeError(
            "stress_detect('hccs') checks the links between Ascend devices; software NPUs have none"
        )
    if detect_type != "aic":
        warn(
            "Detect_type should be `aic` or `hccs`. For details, `aic` is for `Online aicore detect`, and `hccs` is "
            "for `Online p2p detect`.",
            stacklevel=2,
        )
        return 1
    if _products_are_exact():
        return 0
    warn("stress_detect: the device computed wrong results", stacklevel=2)
    return 1
