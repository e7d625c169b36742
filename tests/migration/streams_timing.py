"""Copies and products overlapped on two streams, timed by events."""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
torch.manual_seed(11)
weights = torch.randn(64, 64) / 8
batches = [torch.randn(32, 64) for _ in range(4)]


def on_cpu():
    for i, batch in enumerate(batches):
        print(f"batch {i} loss: {(batch @ weights).tanh().square().mean().item()!r}")


def on_gpu():
    device = torch.device(args.device)
    w = weights.to(device)
    copier = torch.cuda.Stream(device=device)
    computer = torch.cuda.Stream(device)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    computer.wait_stream(torch.cuda.current_stream())
    results = []
    start.record()
    for batch in batches:
        copied = torch.cuda.Event()
        with torch.cuda.stream(copier):
            x = batch.pin_memory().to(device, non_blocking=True)
            copied.record(copier)
        with torch.cuda.stream(computer):
            computer.wait_event(copied)
            x.record_stream(computer)
            results.append((x @ w).tanh().square().mean())
    torch.cuda.current_stream().wait_stream(computer)
    end.record()
    end.synchronize()
    assert end.query()
    assert computer.query()
    assert isinstance(computer, torch.Stream)
    assert isinstance(end, torch.Event)
    milliseconds = start.elapsed_time(end)
    assert milliseconds >= 0
    torch.cuda.synchronize(device)
    for i, result in enumerate(results):
        print(f"batch {i} loss: {result.item()!r}")
    print(f"{milliseconds:.3f} ms on {torch.cuda.get_device_name()}")


if args.device == "cpu":
    on_cpu()
else:
    on_gpu()
