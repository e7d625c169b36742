"""Small models, their data and their training, the same in every process."""

import torch
import torch.distributed as dist
from torch import nn

BATCH = 8
STEPS = 4


class Net(nn.Module):
    """Three layers of different sizes; the last is used only if asked for."""

    def __init__(self, norm: bool = False) -> None:
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.norm = nn.BatchNorm1d(64) if norm else nn.LayerNorm(64)
        self.second = nn.Linear(64, 32)
        self.branch = nn.Linear(32, 32)
        self.last = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor, branches: bool = True) -> torch.Tensor:
        hidden = torch.relu(self.second(torch.relu(self.norm(self.first(x)))))
        return self.last(self.branch(hidden) if branches else hidden)


def make(norm: bool = False, dtype: torch.dtype = torch.float32) -> Net:
    torch.manual_seed(3)
    return Net(norm).to("npu", dtype)


def batch(step: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    """The whole batch of a step: inputs and targets."""
    generator = torch.Generator().manual_seed(100 + step)
    inputs = torch.randn(BATCH, 16, generator=generator)
    targets = torch.randn(BATCH, 4, generator=generator)
    return inputs.to("npu", dtype), targets.to("npu", dtype)


def part(tensor: torch.Tensor) -> torch.Tensor:
    """This rank's rows."""
    return tensor.chunk(dist.get_world_size())[dist.get_rank()]


def loss_of(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(output.float(), target.float())


def train_alone(
    model: nn.Module, branches=lambda step: True, learning_rate: float = 0.05
) -> list[float]:
    """Losses of the whole batches, without a group."""
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    losses = []
    dtype = next(model.parameters()).dtype
    for step in range(STEPS):
        inputs, targets = batch(step, dtype)
        optimizer.zero_grad()
        loss = loss_of(model(inputs, branches(step)), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def train_parts(
    model: nn.Module, branches=lambda step: True, learning_rate: float = 0.05
) -> list[float]:
    """Losses of the whole batches, of which each rank sees its part."""
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    losses = []
    dtype = torch.float32
    for step in range(STEPS):
        inputs, targets = batch(step, dtype)
        optimizer.zero_grad()
        loss = loss_of(model(part(inputs), branches(step)), part(targets))
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        losses.append(mean.item())
    return losses


def close(actual: list[float], expected: list[float], bound: float = 1e-6) -> None:
    """Losses within ``bound`` of each other."""
    assert len(actual) == len(expected)
    for got, right in zip(actual, expected, strict=True):
        assert abs(got - right) <= bound * max(1.0, abs(right)), (actual, expected)


def equal_on_all_ranks(model: nn.Module) -> None:
    """Parameters and buffers have the same bits on each rank."""
    for name, tensor in model.state_dict().items():
        own = tensor.detach().contiguous()
        everywhere = [torch.empty_like(own) for _ in range(dist.get_world_size())]
        dist.all_gather(everywhere, own)
        assert all(torch.equal(other, own) for other in everywhere), name
