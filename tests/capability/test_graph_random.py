"""Random numbers in captured graphs: replays draw what the same calls would draw, and advance the generators alike."""

import memory_use
import pytest
import torch
from torch import nn

import torch_npu  # noqa: F401

SIZE = 4099
DRAWS = {
    "bernoulli": lambda x: torch.bernoulli(x + 0.25),
    "bernoulli_of_half": lambda x: x.half().bernoulli_(x + 0.75),
    "cauchy_": lambda x: x.cauchy_(1, 2),
    "geometric_": lambda x: x.double().geometric_(0.3),
    "log_normal_": lambda x: x.bfloat16().log_normal_(0, 0.5),
    "normal_of_both": lambda x: torch.normal(x + 3, x.abs() + 0.5),
    "normal_of_deviations": lambda x: torch.normal(2.0, x.abs() + 0.5),
    "normal_of_means": lambda x: torch.normal(x + 3, 0.5),
    "randint_float": lambda x: torch.randint(0, 9, x.shape, device=x.device, dtype=x.dtype),
    "rrelu": lambda x: nn.functional.rrelu(x - 1, training=True),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "dropout": lambda x: nn.functional.dropout(x + 1, 0.4),
    "exponential_": lambda x: x.exponential_(1.5),
    "normal_": lambda x: x.normal_(1, 2),
    "rand": lambda x: torch.rand_like(x),
    "randint": lambda x: torch.randint(-5, 1000, x.shape, device=x.device),
    "randn": lambda x: torch.randn(x.shape, device=x.device, dtype=torch.float64),
    "random_": lambda x: x.random_(),
    "random_to": lambda x: x.int().random_(17),
    "randperm": lambda x: torch.randperm(1001, device=x.device),
    "multinomial": lambda x: torch.multinomial(torch.ones(50, device=x.device), 20),
    "multinomial_again": lambda x: torch.multinomial(x.abs() + 1, 20, replacement=True),
    "uniform_": lambda x: x.uniform_(-3, 5),
}


def captured(work, *generators):
    """A graph of ``work()``, which may draw from ``generators``, and its result."""
    graph = torch.npu.NPUGraph()
    for generator in generators:
        graph.register_generator_state(generator)
    with torch.npu.graph(graph):
        result = work()
    return graph, result


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_replays_equal_the_eager_sequence(draw):
    x = torch.zeros(SIZE, device="npu")
    graph, (first, second) = captured(lambda: (draw(x.clone()), draw(x.clone())))
    for seed in (0, 2**63 - 1, -1 % 2**64):
        torch.npu.manual_seed(seed)
        expected = [draw(x.clone()) for _ in range(6)]
        state = torch.npu.get_rng_state()
        torch.npu.manual_seed(seed)
        found = [draw(x.clone())]
        for _ in range(2):
            graph.replay()
            found += [first.clone(), second.clone()]
        found.append(draw(x.clone()))
        for ours, theirs in zip(found, expected, strict=True):
            assert torch.equal(ours, theirs)
        assert torch.equal(torch.npu.get_rng_state(), state)
    assert not torch.equal(found[1], found[2])


def test_the_capture_itself_does_not_advance():
    torch.npu.manual_seed(3)
    before = torch.npu.get_rng_state()
    graph, _ = captured(lambda: torch.rand(4, device="npu"))
    assert torch.equal(torch.npu.get_rng_state(), before)
    graph.replay()
    assert not torch.equal(torch.npu.get_rng_state(), before)


def test_queued_replays_on_several_streams_do_not_disturb_each_other():
    x = torch.zeros(1 << 20, device="npu")
    graphs = [captured(lambda: x.clone().uniform_()) for _ in range(2)]
    streams = [torch.npu.Stream() for _ in range(2)]
    torch.npu.manual_seed(1)
    expected = [torch.rand(1 << 20, device="npu") for _ in range(4)]
    torch.npu.manual_seed(1)
    torch.npu.synchronize()
    found = []
    for i in range(4):
        with torch.npu.stream(streams[i % 2]):
            graphs[i % 2][0].replay()
            found.append(graphs[i % 2][1].clone())
    torch.npu.synchronize()
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.equal(ours, theirs)


def test_a_generator_must_be_registered():
    generator = torch.Generator("npu").manual_seed(5)
    with pytest.raises(RuntimeError, match="register_generator_state"):
        captured(lambda: torch.rand(4, device="npu", generator=generator))
    graph, result = captured(lambda: torch.rand(4, device="npu", generator=generator), generator)
    before = torch.npu.get_rng_state()
    graph.replay()
    assert torch.equal(torch.npu.get_rng_state(), before)
    expected = torch.Generator("npu").manual_seed(5)
    assert torch.equal(result, torch.rand(4, device="npu", generator=expected))
    assert generator.get_offset() == expected.get_offset()
    with pytest.raises(RuntimeError, match="npu"):
        graph.register_generator_state(torch.Generator())


def test_states_that_generators_share():
    one = torch.Generator("npu").manual_seed(1)
    other = one.graphsafe_get_state()
    torch.rand(4, device="npu", generator=one)
    assert other.get_offset() == one.get_offset() != 0
    copy = one.clone_state()
    torch.rand(4, device="npu", generator=one)
    assert copy.get_offset() != one.get_offset()
    one.graphsafe_set_state(copy)
    assert copy.get_offset() == one.get_offset()


def test_generators_within_a_capture():
    torch.npu.manual_seed(7)

    def work():
        state = torch.npu.get_rng_state()
        first = torch.rand(4, device="npu")
        torch.npu.set_rng_state(state)
        again = torch.rand(4, device="npu")
        return first, again, torch.rand(4, device="npu")

    graph, (first, again, second) = captured(work)
    torch.npu.manual_seed(8)
    expected = work()
    torch.npu.manual_seed(8)
    graph.replay()
    for ours, theirs in zip((first, again, second), expected, strict=True):
        assert torch.equal(ours, theirs)
    with pytest.raises(RuntimeError, match="cannot change in a capture"):
        captured(lambda: torch.npu.manual_seed(9))


def test_a_replay_in_another_capture():
    inner, drawn = captured(lambda: torch.rand(4, device="npu"))

    def work():
        before = torch.rand(4, device="npu")
        inner.replay()
        return before, drawn.clone(), torch.rand(4, device="npu")

    outer, results = captured(work)
    for seed in (1, 2):
        torch.npu.manual_seed(seed)
        expected = [torch.rand(4, device="npu") for _ in range(6)]
        torch.npu.manual_seed(seed)
        for first in (0, 3):
            outer.replay()
            for ours, theirs in zip(results, expected[first:], strict=False):
                assert torch.equal(ours, theirs)


def test_a_training_step_with_dropout():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.5), nn.Linear(64, 1)).npu()
    x = torch.randn(4, 8, device="npu")

    def step():
        return torch.autograd.grad(model(x).sum(), tuple(model.parameters()))

    step()
    graph, gradients = captured(step)
    for _ in range(2):
        torch.npu.manual_seed(11)
        expected = step()
        torch.npu.manual_seed(11)
        graph.replay()
        for ours, theirs in zip(gradients, expected, strict=True):
            assert torch.equal(ours, theirs)


def test_the_memory_of_generators_is_released():
    holder, _ = captured(lambda: None)  # holds the default generator
    generator = torch.Generator("npu")
    before = memory_use.settled()
    graphs = [captured(lambda: None, generator)[0] for _ in range(3)]
    assert torch.npu.memory_allocated() == before + 1024  # seed and offset, shared
    graphs[0].reset()
    holder.reset()
    del graphs
    assert torch.npu.memory_allocated() == before
