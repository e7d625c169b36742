"""TorchScript: a scripted model that makes tensors on the GPU itself, saved, loaded to the GPU and frozen."""

import argparse
import io

import torch
from torch import Tensor, nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 6)

    def forward(self, x: Tensor, device: torch.device) -> Tensor:
        offsets = torch.arange(6, device=device, dtype=torch.float32)
        if x.sum() > 0:
            return torch.softmax(self.fc(x) + offsets.to(x.dtype), dim=-1)
        return self.fc(x).relu()


@torch.jit.script
def mixed(x: Tensor) -> Tensor:
    if x.device.type == "cpu":
        return x + torch.ones(10)
    return x + torch.ones(10, device="cuda") + torch.zeros(10, device=x.device)


torch.manual_seed(23)
model = torch.jit.script(Head().eval())
assert isinstance(model, torch.jit.ScriptModule)
buffer = io.BytesIO()
torch.jit.save(model, buffer)
buffer.seek(0)
model = torch.jit.load(buffer, map_location=args.device).eval()
device = torch.device(args.device)
inputs = torch.randn(4, 10)
with torch.inference_mode():
    for i, row in enumerate(inputs):
        result = model(row.to(device), device)
        print(f"row {i} loss: {result.square().sum().item()!r}")
    print(f"mixed loss: {mixed(inputs.to(device)).mean().item()!r}")
    frozen = torch.jit.freeze(torch.jit.script(nn.Linear(10, 2).to(device).eval()))
    print(f"frozen loss: {frozen(inputs.to(device)).square().mean().item()!r}")
