"""One process of ./dev bench gate: prints what it measured as one line of JSON, each as time per unit of work in us."""

import json
import sys
import time
from collections.abc import Callable

import torch
from torch import nn

WORKS: dict[str, tuple[Callable[[], Callable[[], object]], int]] = {}


def _work(name: str, repeats: int) -> Callable:
    def register(make: Callable[[], Callable[[], object]]) -> Callable:
        WORKS[name] = make, repeats
        return make

    return register


@_work("dispatch: add of 16 elements", 2000)
def _dispatch() -> Callable[[], object]:
    a = torch.ones(16, device="npu")
    return lambda: a + a


@_work("training step", 10)
def _step() -> Callable[[], object]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 10)).npu()
    optimizer = torch.optim.AdamW(model.parameters())
    x, y = torch.randn(64, 128).npu(), torch.randint(10, (64,)).npu()

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


@_work("token of a decoder", 10)
def _token() -> Callable[[], object]:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, dropout=0.0)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).npu().eval()
    x = torch.randn(1, 1, 256).npu()
    return torch.no_grad()(lambda: model(x))


def main() -> None:
    """Measures each work of :data:`WORKS`; the fastest of three."""
    found = {}
    for name, (make, repeats) in WORKS.items():
        work = make()
        work()
        times = []
        for _ in range(3):
            torch.npu.synchronize()
            started = time.perf_counter()
            for _ in range(repeats):
                work()
            torch.npu.synchronize()
            times.append((time.perf_counter() - started) / repeats * 1e6)
        found[name] = min(times)
    print(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
