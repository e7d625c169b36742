"""nn.DataParallel over every GPU that there is."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
torch.manual_seed(17)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 4))
data, target = torch.randn(5, 16, 12), torch.randint(4, (5, 16))

if args.device == "cuda":
    assert torch.cuda.device_count() >= 2, "this script needs two GPUs"
    print("Let's use", torch.cuda.device_count(), "GPUs!")
    model = nn.DataParallel(model, device_ids=list(range(torch.cuda.device_count())))
    model.to(torch.device("cuda:0"))
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
        assert torch.ones(1).cuda().get_device() == 1
    assert torch.cuda.current_device() == 0

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    inputs, labels = data[step], target[step]
    if args.device == "cuda":
        inputs, labels = inputs.cuda(), labels.cuda()
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss: {loss.item()!r}")
