"""The same training by accelerate."""

import torch
from accelerate import Accelerator
from torch import nn


def main() -> None:
    accelerator = Accelerator()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(8, 8), torch.randn(8, 1)
    model, optimizer = accelerator.prepare(model, optimizer)
    rank, ranks = accelerator.process_index, accelerator.num_processes
    own = inputs.chunk(ranks)[rank].to(accelerator.device)
    right = targets.chunk(ranks)[rank].to(accelerator.device)
    for _ in range(4):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(own), right)
        accelerator.backward(loss)
        optimizer.step()
        mean = accelerator.reduce(loss.detach(), "mean")
        if accelerator.is_main_process:
            print(f"loss {mean.item():.9f} on {own.device.type}:{own.device.index}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    main()
