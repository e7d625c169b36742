"""npu tensors and events shared between processes: support for ``torch.multiprocessing``."""

from torch_npu.multiprocessing.reductions import rebuild_npu_event, rebuild_npu_tensor

__all__ = ["rebuild_npu_event", "rebuild_npu_tensor"]
