"""Saves the state of a layer and a changed copy of it, as `torch-npu compare` reads them."""

import torch

layer = torch.nn.Linear(3, 2)
torch.nn.init.constant_(layer.weight, 0.5)
torch.nn.init.constant_(layer.bias, 0.25)
torch.save(layer.state_dict(), "expected.pt")

layer = layer.npu()
with torch.no_grad():
    layer.weight[1, 2] += 0.125
torch.save(layer.state_dict(), "actual.pt")
