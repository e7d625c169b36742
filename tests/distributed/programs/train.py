"""A training program as users write it, for CUDA: torchrun starts it, and TORCH_TRANSFER_TO_NPU moves it to npu."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    assert dist.get_backend() in ("nccl", "hccl")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).cuda()
    model = DistributedDataParallel(model, device_ids=[local_rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(8, 8).cuda(), torch.randn(8, 1).cuda()
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for _ in range(4):
        optimizer.zero_grad()
        output = model(inputs.chunk(ranks)[rank])
        loss = nn.functional.mse_loss(output, targets.chunk(ranks)[rank])
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        if rank == 0:
            print(
                f"loss {mean.item():.9f} on {inputs.device.type}:{inputs.device.index}", flush=True
            )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
