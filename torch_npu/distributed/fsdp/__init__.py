"""``fully_shard`` under the official torch_npu's name."""

from torch.distributed.fsdp import fully_shard

__all__ = ["fully_shard"]
