"""Training steps captured and replayed, with dropout, a capturable optimizer and shared memory pools."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
torch.manual_seed(13)
batches = [torch.randn(16, 8) for _ in range(6)]
targets = [batch.sum(1, keepdim=True).sin() for batch in batches]


def model():
    torch.manual_seed(14)
    return nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))


def on_cpu():
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for i, (x, y) in enumerate(zip(batches, targets, strict=True)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        print(f"step {i} loss: {loss.item()!r}")


def on_gpu():
    device = torch.device(args.device)
    net = model().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, capturable=True)
    x, y = batches[0].to(device), targets[0].to(device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    saved = {name: value.clone() for name, value in net.state_dict().items()}
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    with torch.no_grad():  # as if the runs before had not been
        net.load_state_dict(saved)
        for state in optimizer.state.values():
            for value in state.values():
                value.zero_()
    for i, (batch, target) in enumerate(zip(batches, targets, strict=True)):
        x.copy_(batch)
        y.copy_(target)
        graph.replay()
        print(f"step {i} loss: {captured.item()!r}")
    noise = torch.cuda.CUDAGraph()
    with torch.cuda.graph(noise, pool=graph.pool()):
        drawn = nn.functional.dropout(torch.rand(1000, device=device))
    torch.cuda.manual_seed(5)
    expected = nn.functional.dropout(torch.rand(1000, device=device))
    torch.cuda.manual_seed(5)
    noise.replay()
    assert torch.equal(drawn, expected)
    assert not torch.cuda.is_current_stream_capturing()


if args.device == "cpu":
    on_cpu()
else:
    on_gpu()
