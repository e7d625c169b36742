"""Captured graphs: results, memory, refusals, and what a failed capture leaves."""

import ctypes
import gc
from itertools import pairwise

import pytest
import torch
from torch import nn

import torch_npu  # noqa: F401


def captured(work, *, pool=None, warm=True):
    """A graph of ``work()`` and its result, after a run that is not captured."""
    if warm:
        with torch.npu.stream(torch.npu.Stream()):
            work()
        torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, pool=pool):
        result = work()
    return graph, result


def test_add_mm_conv_equal_eager_bitwise():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 16, 16, device="npu")
    conv = nn.Conv2d(3, 8, 3).npu()
    weight = torch.randn(14, 14, device="npu")

    def work():
        return torch.mm((conv(x) + 1).relu().reshape(-1, 14), weight)

    with torch.no_grad():
        graph, result = captured(work)
        for seed in range(3):
            torch.manual_seed(seed)
            x.copy_(torch.randn(2, 3, 16, 16))
            graph.replay()
            assert torch.equal(result, work())


def test_nothing_runs_before_the_replay():
    x = torch.zeros(16, device="npu")
    graph, _ = captured(lambda: x.add_(1), warm=False)
    assert x.sum().item() == 0
    graph.replay()
    graph.replay()
    assert torch.equal(x.cpu(), torch.full((16,), 2.0))


def test_elementwise_chains_are_fused_and_equal_eager():
    x = torch.randn(64, 1024, device="npu")

    def work():
        return ((x * 2).relu() + x).sigmoid() * x

    graph, result = captured(work)
    graph.replay()
    assert torch.equal(result, work())


def test_a_training_step():
    torch.manual_seed(0)
    models = [nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).npu() for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    x, y = torch.randn(8, 16, device="npu"), torch.randn(8, 4, device="npu")

    def step(model, inputs, targets):
        loss = nn.functional.mse_loss(model(inputs), targets)
        grads = torch.autograd.grad(loss, tuple(model.parameters()))
        with torch.no_grad():
            for parameter, grad in zip(model.parameters(), grads, strict=True):
                parameter.add_(grad, alpha=-0.1)
        return loss

    graph, loss = captured(lambda: step(models[0], x, y), warm=False)
    for _ in range(5):
        x.copy_(torch.randn(8, 16))
        graph.replay()
        assert torch.equal(loss.detach(), step(models[1], x, y).detach())
    for ours, theirs in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_packed_weights_follow_the_weights():
    linear = nn.Linear(256, 256).npu()
    x = torch.randn(64, 256, device="npu")
    with torch.no_grad():
        graph, result = captured(lambda: linear(x))
        for _ in range(4):
            graph.replay()
            assert torch.equal(result, linear(x))
            linear.weight.mul_(1.5)
            graph.replay()
            assert torch.equal(result, linear(x))


def test_make_graphed_callables():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh()).npu()
    eager = nn.Sequential(nn.Linear(8, 8), nn.Tanh()).npu()
    eager.load_state_dict(model.state_dict())
    graphed = torch.npu.make_graphed_callables(
        model, (torch.randn(4, 8, device="npu", requires_grad=True),)
    )
    for _ in range(3):
        x = torch.randn(4, 8, device="npu", requires_grad=True)
        other = x.detach().clone().requires_grad_()
        graphed(x).sum().backward()
        eager(other).sum().backward()
        assert torch.equal(x.grad, other.grad)
    for ours, theirs in zip(model.parameters(), eager.parameters(), strict=True):
        assert torch.equal(ours.grad, theirs.grad)


def test_other_streams_join():
    x = torch.ones(1024, device="npu")
    side = torch.npu.Stream()

    def work():
        main = torch.npu.current_stream()
        side.wait_stream(main)
        with torch.npu.stream(side):
            b = x * 3
        a = x * 2
        main.wait_stream(side)
        return a + b

    graph, result = captured(work)
    x.fill_(2)
    graph.replay()
    assert torch.equal(result.cpu(), torch.full((1024,), 10.0))


def test_accelerator_graph():
    x = torch.zeros(16, device="npu")
    graph = torch.accelerator.Graph()
    with torch.Stream(device="npu"), graph:
        x += 1
    graph.replay()
    assert torch.equal(x.cpu(), torch.ones(16))


def usable(x):
    graph, result = captured(lambda: x + 1)
    graph.replay()
    assert torch.equal(result, x + 1)
    assert not torch.npu.is_current_stream_capturing()
    before = torch.npu.get_rng_state()
    torch.rand(4, device="npu")
    assert not torch.equal(before, torch.npu.get_rng_state())


@pytest.mark.parametrize(
    ("work", "named"),
    [
        (lambda x: x.sum().item(), r"_local_scalar_dense|wait of the host"),
        (lambda x: x.nonzero(), r"nonzero|wait of the host"),
        (lambda x: x.cpu(), r"wait of the host"),
        (lambda _: torch.npu.synchronize(), r"a wait of the host"),
        (lambda _: torch.npu.current_stream().query(), r"a query of the host"),
        (lambda x: torch.poisson(x), r"AI CPU route|wait of the host"),
        (lambda x: torch.linalg.det(x.reshape(4, 4)), r"AI CPU route|wait of the host"),
    ],
    ids=["item", "nonzero", "cpu", "synchronize", "query", "poisson", "det"],
)
@pytest.mark.parametrize("first", [True, False])
def test_refusals_name_the_call_and_leave_everything_usable(work, named, first):
    x = torch.arange(16.0, device="npu")
    graph = torch.npu.NPUGraph()
    before = (lambda y: y) if first else (lambda y: y + 0)
    with pytest.raises(RuntimeError, match=named), torch.npu.graph(graph):
        work(before(x))
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    usable(x)


def test_a_refused_call_that_was_caught_fails_the_capture():
    x = torch.ones(4, device="npu")
    graph = torch.npu.NPUGraph()
    with (
        pytest.raises(RuntimeError, match="has failed: a wait of the host"),
        torch.npu.graph(graph),
        pytest.raises(RuntimeError, match=r"test_graphs\.py"),
    ):
        x.sum().item()
    usable(x)


def test_an_exception_of_the_block_stays_and_notes_why_the_capture_failed():
    x = torch.ones(4, device="npu")

    def work():
        with pytest.raises(RuntimeError, match="a wait of the host"):
            x.sum().item()
        raise ValueError("of the block")

    with (
        pytest.raises(ValueError, match="of the block") as caught,
        torch.npu.graph(torch.npu.NPUGraph()),
    ):
        work()
    assert any("a wait of the host" in note for note in caught.value.__notes__)
    usable(x)


def test_replays_take_no_memory():
    """Counted in bytes of the host's heap and of the device: rounds of 2,000 replays."""

    class Heap(ctypes.Structure):
        """glibc's struct mallinfo2: ten counts, of which the eighth is the bytes in use."""

        _fields_ = (("counts", ctypes.c_size_t * 10),)

    heap_of = ctypes.CDLL(None).mallinfo2
    heap_of.restype = Heap
    gc.collect()  # graphs of other tests
    x = torch.ones(64, device="npu")
    graph, _ = captured(lambda: nn.functional.dropout(x * 2 + 1, 0.5))

    def used(replays):
        for _ in range(replays):
            graph.replay()
        torch.npu.synchronize()
        return heap_of().counts[7], torch.npu.memory_allocated()

    _, device = used(200)
    rounds = [used(2000) for _ in range(4)]
    assert max(found for _, found in rounds) <= device
    # Less than a byte each; a round in which a queue grows to its size is none of them.
    assert min(after - before for (before, _), (after, _) in pairwise(rounds)) < 2000


def test_external_events_are_flags():
    """A replay waits until another stream records the event, and clears it."""
    x, event, other = torch.ones(4, device="npu"), torch.npu.ExternalEvent(), torch.npu.Stream()

    def work():
        event.wait()
        event.reset()
        return x * 2

    graph, y = captured(work, warm=False)
    for value in (3.0, 5.0):
        x.fill_(value)
        graph.replay()
        assert not torch.npu.current_stream().query()
        event.record(other)
        assert y.tolist() == [2 * value] * 4


def test_optimizers_that_count_on_the_cpu_are_refused():
    weight = torch.ones(4, device="npu", requires_grad=True)
    weight.grad = torch.ones_like(weight)
    before = weight.detach().clone()
    refused = pytest.raises(RuntimeError, match=r"instance of Adam, on npu, but .* capturable=True")
    with refused, torch.npu.graph(torch.npu.NPUGraph()):
        torch.optim.Adam([weight]).step()
    assert torch.equal(weight, before)
    for optimizer in (torch.optim.SGD([weight]), torch.optim.Adam([weight], capturable=True)):
        optimizer.step()
        graph, _ = captured(optimizer.step, warm=False)
        graph.replay()
    torch.optim.Adam([weight]).step()  # outside of captures nothing is refused
    usable(torch.ones(4, device="npu"))


def test_graphs_that_are_kept():
    x = torch.zeros(4, device="npu")
    graph = torch.npu.NPUGraph(keep_graph=True)
    graph.enable_debug_mode()
    with pytest.raises(RuntimeError, match="successful capture"):
        graph.instantiate()
    with torch.npu.graph(graph):
        x.add_(1)
    for _ in range(2):
        graph.instantiate()
        graph.replay()
    assert torch.equal(x.cpu(), torch.full((4,), 2.0))
    with pytest.raises(RuntimeError, match="keep_graph"):
        captured(lambda: x + 1)[0].instantiate()


def test_bad_orders():
    graph = torch.npu.NPUGraph()
    with pytest.raises(RuntimeError, match="without a capture_begin"):
        graph.capture_end()
    with pytest.raises(RuntimeError, match="not on the default one"):
        graph.capture_begin()
    with pytest.raises(RuntimeError, match="successful capture"):
        graph.pool()
    with torch.npu.stream(torch.npu.Stream()):
        graph.capture_begin()
        with pytest.raises(RuntimeError, match="captured already"):
            graph.capture_begin()
        other = torch.npu.NPUGraph()
        with pytest.raises(RuntimeError, match="captures already"):
            other.capture_begin()
        graph.capture_end()
        with pytest.raises(ValueError, match="capture_error_mode"):
            other.capture_begin(capture_error_mode="loose")
    with torch.npu.stream(torch.npu.Stream()):
        other.capture_begin()
        del other  # ends the capture
        assert not torch.npu.is_current_stream_capturing()
    usable(torch.ones(4, device="npu"))


def test_memory_is_private_and_does_not_grow():
    gc.collect()  # graphs of other tests
    x = torch.randn(1 << 16, device="npu")
    graph, result = captured(lambda: (x * 2 + 1).exp())
    graph.replay()
    expected = result.clone()
    noise = [torch.randn(1 << 16, device="npu") for _ in range(8)]
    before = torch.npu.memory_stats()["reserved_bytes.all.current"], torch.npu.memory_allocated()
    for _ in range(1000):
        graph.replay()
    torch.npu.synchronize()
    after = torch.npu.memory_stats()["reserved_bytes.all.current"], torch.npu.memory_allocated()
    assert before == after
    assert torch.equal(result, expected)
    del noise, result, expected
    reserved = torch.npu.memory_reserved()
    del graph
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() < reserved


def test_graphs_share_a_pool():
    pool = torch.npu.graph_pool_handle()
    x = torch.ones(1 << 12, device="npu")
    first, a = captured(lambda: x + 1, pool=pool)
    second, b = captured(lambda: a * 2, pool=first.pool())
    first.replay()
    second.replay()
    assert first.pool() == second.pool() == pool
    assert torch.equal(b.cpu(), torch.full((1 << 12,), 4.0))


def test_replay_on_another_stream_and_a_dump(tmp_path):
    x = torch.zeros(16, device="npu")
    graph, _ = captured(lambda: x.add_(1), warm=False)
    with torch.npu.stream(torch.npu.Stream()):
        graph.replay()
    torch.npu.synchronize()
    assert x[0].item() == 1
    graph.debug_dump(str(tmp_path / "graph.json"))
    assert "Add" in (tmp_path / "graph.json").read_text()
    graph.reset()
    with pytest.raises(RuntimeError, match="successful capture"):
        graph.replay()
