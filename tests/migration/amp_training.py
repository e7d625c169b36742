"""Automatic mixed precision with a gradient scaler and clipped gradients, in the new and in the old spelling."""

import argparse

import torch
from torch import nn
from torch.cuda.amp import GradScaler as OldGradScaler

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda:0")
args = parser.parse_args()
device = torch.device(args.device)
use_amp = device.type == "cuda"

torch.manual_seed(0)
if torch.cuda.is_available():
    torch.cuda.manual_seed_all(0)
torch.backends.cuda.matmul.allow_tf32 = False


def make_model():
    return nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 8)).to(
        device
    )


x = torch.randn(64, 32)
y = torch.randn(64, 8)
x, y = x.to(device), y.to(device)

model = make_model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cuda", enabled=use_amp, init_scale=1024.0)
for step in range(6):
    with torch.autocast(device_type=device.type, dtype=torch.float16):
        output = model(x)
        loss = nn.functional.mse_loss(output.float(), y)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step} loss: {loss.item()!r}")
assert output.dtype is torch.float16
assert not use_amp or scaler.get_scale() == 1024.0

if use_amp:  # the spelling of older scripts
    scaler = OldGradScaler(init_scale=256.0)
    with torch.cuda.amp.autocast():
        assert torch.is_autocast_enabled()
        hidden = x @ x.t()
    assert hidden.dtype is torch.float16
    assert hidden.is_cuda
    assert scaler.scale(torch.ones(1).cuda()).item() == 256.0
    assert torch.get_autocast_gpu_dtype() is torch.float16
