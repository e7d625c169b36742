"""Helpers for tests of npu programs, with the names and rules of the official plug-in's ``torch_npu.testing``.

The import also makes PyTorch's generic tests (``instantiate_device_type_tests``) run on npu; it does not use the device.
"""

from torch_npu.testing._generic_tests import select_npu

select_npu()
