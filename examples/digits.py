"""Trains a small CNN on scikit-learn's handwritten digits on npu, saves it, loads it and goes on.

python examples/digits.py
"""

import tempfile
from pathlib import Path

import torch
from rich.progress import track
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

TEST_SHARE = 5  # every fifth picture is for the test


def dataset(device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Training pictures (N, 1, 8, 8) and labels (N,), then those of the test, on ``device``."""
    digits = load_digits()
    x = torch.from_numpy(digits.images).float().div(16).unsqueeze(1).to(device)
    y = torch.from_numpy(digits.target).to(device)
    test = torch.arange(len(y), device=device) % TEST_SHARE == 0
    return x[~test], y[~test], x[test], y[test]


def network() -> nn.Sequential:
    """Two convolutions, batch norm, dropout and a classifier."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(64 * 16, 10),
    )


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    epochs: int,
    batch: int = 64,
) -> float:
    """Trains for ``epochs``; returns the last batch's loss."""
    model.train()
    loss = torch.zeros(())
    for _ in track(range(epochs), description=f"training on {x.device}"):
        for rows in torch.randperm(len(y), device=x.device).split(batch):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """The share of pictures that the model reads right."""
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def run(device: str = "npu", epochs: int = 8, folder: Path | None = None) -> float:
    """Trains, saves, loads into a new model, goes on; returns the test accuracy."""
    torch.manual_seed(0)
    x, y, x_test, y_test = dataset(device)
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    train(model, optimizer, x, y, epochs // 2)
    print(f"  test accuracy half way: {accuracy(model, x_test, y_test):.1%}")

    with tempfile.TemporaryDirectory() as temporary:
        checkpoint = (folder or Path(temporary)) / "digits.pt"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, checkpoint)
        state = torch.load(checkpoint, weights_only=True)
    model = network().to(device)
    model.load_state_dict(state["model"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    optimizer.load_state_dict(state["optimizer"])
    train(model, optimizer, x, y, epochs - epochs // 2)
    result = accuracy(model, x_test, y_test)
    print(f"  saved, loaded, trained on: {result:.1%} of {len(y_test)} test pictures")
    return result


if __name__ == "__main__":
    run()
