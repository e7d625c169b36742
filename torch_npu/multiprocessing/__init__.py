"""npu tensors in several processes: what ``torch.multiprocessing`` needs to send them."""

from torch_npu.multiprocessing.reductions import rebuild_npu_tensor

__all__ = ["rebuild_npu_tensor"]
