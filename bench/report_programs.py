"""Small programs with one planted fault each, and the same without it: what ``torch-npu report`` is judged by.

A program is a function that gets whether it has the fault, and returns the work of one step. The faulty line ends with
"planted" and the program's name.
"""

import time
from collections.abc import Callable, Iterator

import torch
from torch import nn

Step = Callable[[], object]


def _work(size: int, layers: int) -> nn.Sequential:
    torch.manual_seed(0)
    parts = [part for _ in range(layers) for part in (nn.Linear(size, size), nn.GELU())]
    return nn.Sequential(*parts).npu()


def _busy(seconds: float) -> None:
    """Work of the host in Python."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def synchronization(faulty: bool) -> Step:
    """Reads the loss in each step, before the host prepares the next one."""
    model, x = _work(768, 2), torch.randn(768, 768, device="npu")
    losses: list[object] = []

    @torch.no_grad()
    def step() -> None:
        for _ in range(3):
            loss = model(x).sum()
            if faulty:
                losses.append(loss.item())  # planted synchronization
            else:
                losses.append(loss.detach())
            _busy(0.004)

    return step


class _Images(torch.utils.data.Dataset):
    def __init__(self, faulty: bool) -> None:
        self.faulty = faulty
        self.ready = torch.randn(8, 256)

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        if self.faulty:
            time.sleep(0.004)  # planted loader
        return self.ready[index]


def loader(faulty: bool) -> Step:
    """Waits for files in the training's process."""
    model = _work(256, 2)
    workers = 0

    def batches() -> Iterator[torch.Tensor]:
        yield from torch.utils.data.DataLoader(_Images(faulty), batch_size=4, num_workers=workers)

    @torch.no_grad()
    def step() -> None:
        for batch in batches():
            model(batch.npu())
        torch.npu.synchronize()

    return step


def ai_cpu(faulty: bool) -> Step:
    """Calls an operator that the device has no kernel for."""
    model, x = _work(256, 2), torch.randn(256, 256, device="npu")
    widened = torch.randn(96, 96, device="npu")

    @torch.no_grad()
    def step() -> None:
        model(x)
        if faulty:
            torch.linalg.svdvals(widened)  # planted ai_cpu
        torch.npu.synchronize()

    return step


def layout(faulty: bool) -> Step:
    """Brings the same images into another layout in each step."""
    torch.manual_seed(0)
    model = nn.Conv2d(16, 16, 1).npu().to(memory_format=torch.channels_last)
    images = torch.randn(8, 16, 112, 112, device="npu")
    ready = images.contiguous(memory_format=torch.channels_last)

    @torch.no_grad()
    def step() -> None:
        for _ in range(4):
            x = ready
            if faulty:
                x = images.contiguous(memory_format=torch.channels_last)  # planted layout
            model(x)
        torch.npu.synchronize()

    return step


def batches_of_one(faulty: bool) -> Step:
    """Calls the network for one sample after the other."""
    model, x = _work(64, 4), torch.randn(64, 64, device="npu")

    @torch.no_grad()
    def step() -> None:
        if faulty:
            for sample in x.split(1):
                model(sample)  # planted batches_of_one
        else:
            model(x)
        torch.npu.synchronize()

    return step


def weights(faulty: bool) -> Step:
    """Copies the same weights to the device in each step."""
    torch.manual_seed(0)
    host = torch.randn(1024, 2048)
    ready, x = host.npu(), torch.randn(4, 1024, device="npu")

    @torch.no_grad()
    def step() -> None:
        for _ in range(4):
            weight = ready
            if faulty:
                weight = host.npu()  # planted weights
            (x @ weight).relu()
        torch.npu.synchronize()

    return step


FAULTS: dict[str, Callable[[bool], Step]] = {
    "synchronization": synchronization,
    "loader": loader,
    "ai_cpu": ai_cpu,
    "layout": layout,
    "batches_of_one": batches_of_one,
    "weights": weights,
}


def inference(_: bool = False) -> Step:
    """Tuned: a network on data that are on the device."""
    model, x = _work(512, 4), torch.randn(256, 512, device="npu")

    @torch.no_grad()
    def step() -> None:
        for _ in range(4):
            model(x)

    return step


def training(_: bool = False) -> Step:
    """Tuned: forward, backward, optimizer; the loss is read once a step of 8 batches."""
    model, x = _work(256, 2), torch.randn(512, 256, device="npu")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> object:
        for _ in range(8):
            optimizer.zero_grad(set_to_none=True)
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
        return loss.item()

    return step


def convolution(_: bool = False) -> Step:
    """Tuned: images that have the layout of the weights, new ones copied in each step."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(8, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3)).npu()
    model = model.to(memory_format=torch.channels_last)
    host = torch.randn(4, 4, 8, 64, 64).contiguous()

    @torch.no_grad()
    def step() -> None:
        for images in host:
            model(images.npu().contiguous(memory_format=torch.channels_last))
        host.add_(1)

    return step


TUNED: dict[str, Callable[[bool], Step]] = {
    "inference": inference,
    "training": training,
    "convolution": convolution,
}
