"""PyTorch's tests for any device, on npu."""

import os


def select_npu() -> None:
    """Lets ``instantiate_device_type_tests`` create tests for npu alone; CUDA's own become npu's.

    Variables that are set already stay. Without the packages that PyTorch's tests need, nothing is changed.
    """
    os.environ.setdefault("PYTORCH_TESTING_DEVICE_FOR_CUSTOM", "privateuse1")
    os.environ.setdefault("PYTORCH_TESTING_DEVICE_EXCEPT_FOR", "cuda,cpu")
    try:
        from torch.testing._internal import common_device_type, common_utils
    except ImportError:
        return
    common_device_type.onlyCUDA = common_device_type.onlyPRIVATEUSE1
    common_utils.TEST_CUDA = common_utils.TEST_PRIVATEUSE1
