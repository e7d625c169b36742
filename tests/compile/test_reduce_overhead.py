"""``torch.compile(mode="reduce-overhead")``: inference by captured graphs."""

import re
import warnings

import pytest
import torch
from torch import nn

from torch_npu._inductor import graphs
from torch_npu.npu.graphs import NPUGraph


@pytest.fixture
def replays(monkeypatch):
    """How often a graph was replayed."""
    counted = []
    replay = NPUGraph.replay
    monkeypatch.setattr(NPUGraph, "replay", lambda self: (counted.append(1), replay(self)))
    return counted


def _compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, mode="reduce-overhead", **options)


@torch.no_grad()
def test_calls_after_the_second_are_replays(replays):
    model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)).npu().eval()
    compiled = _compiled(model)
    results = []
    for i in range(6):
        x = torch.randn(8, 16, device="npu")
        result = compiled(x)
        results.append((result, model(x)))
        assert len(replays) == max(0, i)
    for found, expected in results:  # none was overwritten by a later call
        torch.testing.assert_close(found, expected)


@torch.no_grad()
def test_each_shape_has_its_graph(replays):
    compiled = _compiled(lambda x: (x.sin() * 2 + x).softmax(-1), dynamic=True)
    for _ in range(4):
        for rows in (3, 5, 8):
            x = torch.randn(rows, 16, device="npu")
            torch.testing.assert_close(compiled(x), (x.sin() * 2 + x).softmax(-1))
    assert len(replays) == 3 * 3


@torch.no_grad()
def test_weights_are_read_where_they_are_and_may_change(replays):
    linear = nn.Linear(8, 8).npu()
    compiled = _compiled(lambda x: linear(x).relu())
    for _ in range(4):
        x = torch.randn(4, 8, device="npu")
        torch.testing.assert_close(compiled(x), linear(x).relu())
        linear.weight.mul_(1.1)
    linear.weight.data = torch.randn(8, 8, device="npu")  # at another address
    for _ in range(2):
        torch.testing.assert_close(compiled(x), linear(x).relu())
    assert len(replays) == 5


@torch.no_grad()
def test_inputs_that_are_changed(replays):
    def step(cache, x):
        cache.add_(x)
        return cache * 2, x

    compiled = _compiled(step)
    cache = torch.zeros(16, device="npu")
    expected = torch.zeros(16, device="npu")
    for i in range(5):
        if i == 3:
            cache = cache.clone()  # at another address
        x = torch.randn(16, device="npu")
        doubled, same = compiled(cache, x)
        expected += x
        torch.testing.assert_close(cache, expected)
        torch.testing.assert_close(doubled, expected * 2)
        assert same is x
    assert len(replays) == 4


@torch.no_grad()
def test_random_numbers_go_on():
    compiled = _compiled(lambda x: nn.functional.dropout(x, 0.5))
    x = torch.ones(1000, device="npu")
    torch.npu.manual_seed(3)
    first = [compiled(x) for _ in range(4)]
    torch.npu.manual_seed(3)
    again = [compiled(x) for _ in range(4)]
    for one, other in zip(first, again, strict=True):
        assert torch.equal(one, other)
    assert not torch.equal(first[2], first[3])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: torch.ones(8, device="npu", requires_grad=True), "only inference is captured"),
        (lambda: torch.ones(8, device="npu"), "AI CPU route|wait of the host"),
    ],
    ids=["training", "route"],
)
def test_the_rest_warns_once_and_runs_plainly(replays, make, reason):
    graphs.warn_without_graph.cache_clear()
    x = make()

    compiled = _compiled(torch.sigmoid if x.requires_grad else torch.poisson)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(4):
            result = compiled(x)
            assert result.shape == x.shape
    found = [str(w.message) for w in caught if "reduce-overhead" in str(w.message)]
    assert len(found) == 1
    assert re.search(reason, found[0])
    assert not replays
