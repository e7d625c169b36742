"""Saves and resumes training; loads a checkpoint of another machine's GPU with every form of map_location."""

import argparse
import os
import tempfile

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda:0")
parser.add_argument(
    "--resume", default=os.environ.get("RESUME"), help="a checkpoint that was saved on a GPU"
)
args = parser.parse_args()
torch.manual_seed(13)
x, y = torch.randn(32, 8), torch.randn(32, 2)


def make():
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2)).to(args.device)
    return model, torch.optim.Adam(model.parameters(), lr=1e-2)


def train(model, optimizer, steps):
    inputs, targets = x.to(args.device), y.to(args.device)
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        print(f"step {step} loss: {loss.item()!r}")


model, optimizer = make()
train(model, optimizer, 3)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 3}, path)
    resumed, resumed_optimizer = make()
    checkpoint = torch.load(path, map_location=torch.device(args.device))
    resumed.load_state_dict(checkpoint["model"])
    resumed_optimizer.load_state_dict(checkpoint["optimizer"])
    train(resumed, resumed_optimizer, 3)

    kinds = [
        args.device,
        lambda storage, location: storage.cuda(),
        lambda storage, location: storage,
    ]
    for location in kinds if args.device.startswith("cuda") else ["cpu"] * 3:
        loaded = torch.load(path, map_location=location)["model"]
        print(f"loss: {sum(v.abs().sum().item() for v in loaded.values())!r}")

if args.resume:  # tensors whose storages are tagged cuda:0
    state = torch.load(args.resume, map_location=args.device)
    print(f"resumed loss: {state['weight'].sum().item()!r}")
    if args.device != "cpu":
        state = torch.load(args.resume, weights_only=True)
        assert state["weight"].is_cuda
        state = torch.load(args.resume, map_location={"cuda:0": "cuda:0"})
        assert state["weight"].is_cuda
        state = torch.load(args.resume, map_location="cpu")
        assert not state["weight"].is_cuda
