"""The launch cache (torch_npu/csrc/core/launch_cache.h) distinguishes calls that differ in more than addresses."""

import threading

import pytest
import torch

# Each call is repeated with different values, so that all but the first use the cache.
ROUNDS = 5


def rounds(work, *shapes, dtype=torch.float32):
    """Compares ``work`` on npu with the CPU, on fresh tensors of ``shapes``."""
    for i in range(ROUNDS):
        cpu = [torch.randn(s, generator=torch.Generator().manual_seed(i)).to(dtype) for s in shapes]
        result = work(*(t.npu() for t in cpu))
        expected = work(*cpu)
        torch.testing.assert_close(result.cpu(), expected)


def test_elementwise():
    rounds(torch.add, (4, 4), (4, 4))
    rounds(torch.mul, (4, 4), (4,))
    rounds(lambda x, y: x.t() + y.t(), (4, 3), (4, 3))
    rounds(torch.nn.functional.gelu, (16,))


def test_types_and_shapes_are_distinguished():
    for shape in ((4, 4), (2, 8), (16,), (), (1, 1)):
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int32):
            rounds(torch.add, shape, shape, dtype=dtype)


def test_numbers_are_distinguished():
    x = torch.ones(4, device="npu")
    for number in (1, 2, 2.5, -1, 1):
        assert torch.add(x, x, alpha=number).tolist() == [1 + number] * 4
    for number in (1, 2, 2.5, True, False, -1, 1):
        assert (x * number).tolist() == [number] * 4


def test_the_same_tensor_twice_is_distinguished_from_two_tensors():
    x, y = torch.full((4,), 2.0).npu(), torch.full((4,), 3.0).npu()
    for _ in range(3):
        assert (x * x).tolist() == [4] * 4
        assert (x * y).tolist() == [6] * 4
        assert (y * x).tolist() == [6] * 4


def test_in_place():
    x, y = torch.zeros(4).npu(), torch.ones(4).npu()
    for _ in range(ROUNDS):
        x += y
        y *= 1
    x += x
    assert x.tolist() == [2 * ROUNDS] * 4


def test_products():
    rounds(torch.mm, (16, 16), (16, 16))
    rounds(lambda x, w: torch.nn.functional.linear(x, w), (1, 64), (32, 64))
    rounds(lambda x, w, b: torch.addmm(b, x, w), (3, 8), (8, 5), (5,))
    rounds(torch.bmm, (3, 4, 5), (3, 5, 2))


def test_a_slice_is_distinguished_from_a_whole_tensor():
    x = torch.arange(16.0).npu()
    for _ in range(3):
        assert (x[::2] + x[1::2]).tolist() == [4 * i + 1 for i in range(8)]
        assert (x[:8] + x[8:]).tolist() == [2 * i + 8 for i in range(8)]
    with pytest.raises(RuntimeError, match="must match the size"):
        x[:8] + x[:7]


def test_results_go_to_the_current_stream():
    x, stream = torch.ones(4, device="npu"), torch.npu.Stream()
    for _ in range(3):
        with torch.npu.stream(stream):
            y = x + x
            stream.synchronize()
        assert y.tolist() == [2] * 4


def test_each_thread_has_its_own_cache():
    x, sums = torch.ones(4, device="npu"), []

    def add():
        y = x
        for _ in range(20):
            y = y + x
        sums.append(y.tolist())

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [[21] * 4] * 4


def test_a_recording_sees_each_launch():
    x = torch.ones(4, device="npu")
    for _ in range(3):
        x + x
    with torch.profiler.profile() as profile:
        for _ in range(3):
            x + x
    launched = [e for e in profile.events() if e.name == "aclnnAdd"]
    assert len(launched) == 3


@pytest.mark.parametrize("count", [1, 2, 5, 6, 9])
def test_joined_tensors(count):
    shapes = [(2, 3 + i % 3, 4) for i in range(count)]
    rounds(lambda *x: torch.cat(x, 1), *shapes)
    rounds(lambda *x: torch.cat(x, -2), *shapes)
    rounds(lambda *x: torch.stack(x, 1), *[(3, 5)] * count)
    rounds(lambda *x: torch.cat([t.transpose(0, 2) for t in x], 1), *shapes)


def test_one_tensor_several_times_in_a_list():
    x, y = torch.arange(6.0).view(2, 3), torch.ones(2, 3)
    for lists in ([x, x, y], [x, y, x], [y, x, x], [x, x, x]):
        for _ in range(3):
            assert torch.equal(torch.cat([t.npu() for t in lists]).cpu(), torch.cat(lists))
            on_npu = {id(t): t.npu() for t in lists}
            assert torch.equal(torch.cat([on_npu[id(t)] for t in lists]).cpu(), torch.cat(lists))


def test_reductions_over_several_dimensions():
    for dims in ((0,), (1,), (0, 1), (-1,), (0, 2), ()):
        rounds(lambda x, dims=dims: x.sum(dims), (3, 4, 5))
        rounds(lambda x, dims=dims: x.sum(dims, keepdim=True), (3, 4, 5))
        rounds(lambda x, dims=dims: x.mean(dims), (3, 4, 5))
        rounds(lambda x, dims=dims: x.amax(dims), (3, 4, 5))
    rounds(lambda x: torch.cat([*x.max(1)]), (4, 7))
    rounds(lambda x: torch.stack([*torch.std_mean(x, 0)]), (4, 7))
    rounds(torch.norm, (40, 50))


def test_softmax():
    for dim in (0, 1, 2):
        rounds(lambda x, dim=dim: x.softmax(dim), (3, 4, 5))
        rounds(lambda x, dim=dim: x.log_softmax(dim), (3, 4, 5))
        rounds(lambda x, dim=dim: x.transpose(0, 2).softmax(dim), (3, 4, 5))
        rounds(
            lambda x, g, dim=dim: torch._softmax_backward_data(g, x, dim, torch.float32),
            (3, 4, 5),
            (3, 4, 5),
        )


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.float64,
        torch.int8,
        torch.int64,
        torch.bool,
        torch.complex64,
        torch.complex128,
    ],
)
def test_fills(dtype):
    for number in (0, 1, 3.5, -2):
        for size in (1, 5, 100, 20_000):
            created = torch.full((size,), number, dtype=dtype, device="npu")
            assert torch.equal(created.cpu(), torch.full((size,), number, dtype=dtype))
            widened = torch.zeros(size, 2, dtype=dtype, device="npu")
            widened[:, 1].fill_(number)
            expected = torch.zeros(size, 2, dtype=dtype)
            expected[:, 1].fill_(number)
            assert torch.equal(widened.cpu(), expected)


def test_indexing_by_tensors():
    index = torch.tensor([3, 0, 2, 2])
    rounds(lambda x: x[index.to(x.device)], (4, 6))
    rounds(lambda x: x[:, index.to(x.device)], (3, 6))
    rounds(lambda x: x[index.to(x.device), index.to(x.device)], (4, 4))
    x = torch.arange(4.0).npu()
    for _ in range(3):
        with pytest.raises(IndexError, match="out of"):
            x[torch.tensor([4], device="npu")].cpu()
        assert x[torch.tensor([3], device="npu")].tolist() == [3]


def test_calls_on_the_same_memory_see_what_it_contains():
    """Operators that are planned for their addresses run again on what the memory has become."""
    x, y = torch.randn(2, 3, 8, 8), torch.randn(3, 8, 8)
    on_npu, other = x.npu(), y.npu()
    works = (
        lambda x, y: x - y,
        lambda x, y: torch.nn.functional.avg_pool2d(x, 2),
        lambda x, y: torch.nn.functional.pad(x, (1, 2, 1, 1), "reflect"),
        lambda x, y: torch.nn.functional.layer_norm(x, (8,)),
        lambda x, y: torch.nn.functional.layer_norm(x, (3, 8, 8), y, y),
        lambda x, y: x.sort(2).values,
        lambda x, y: x.sort(3, descending=True).values,
        lambda x, y: x.clamp(-0.5, 0.5) if x[0, 0, 0, 0] > 0 else x.clamp(-0.5),
    )
    for _ in range(ROUNDS):
        for work in works:
            for _ in range(3):
                torch.testing.assert_close(work(on_npu, other).cpu(), work(x, y))
        for cpu, npu in ((x, on_npu), (y, other)):
            cpu.copy_(torch.randn(cpu.shape))
            npu.copy_(cpu)


def test_results_in_memory_of_freed_tensors():
    """A tensor at the address of a freed one that has another shape or type is another call."""
    for dtype in (torch.float32, torch.int32, torch.float64):
        for shape in ((4, 6), (6, 4), (2, 3, 4)):
            x = (torch.randn(shape) * 10).to(dtype)
            for _ in range(ROUNDS):
                assert torch.equal(x.npu().flip(0).cpu(), x.flip(0))
                assert torch.equal(x.npu().sort(-1).values.cpu(), x.sort(-1).values)
                assert torch.equal(torch.tril(x.npu()).cpu(), x.tril())


def test_operators_that_find_their_sizes_run_each_time():
    """The same mask, and others in its memory, often enough to be cached."""
    mask = torch.zeros(5, 6, dtype=torch.bool, device="npu")
    values = torch.arange(30.0).reshape(5, 6)
    x = values.npu()
    for seed in range(12):
        drawn = torch.rand(5, 6, generator=torch.Generator().manual_seed(seed // 2)) > 0.3
        mask.copy_(drawn)
        assert torch.equal(mask.nonzero().cpu(), drawn.nonzero())
        assert torch.equal(x[mask].cpu(), values[drawn])
        assert torch.equal(torch.masked_select(x, mask).cpu(), values[drawn])
        written, expected = x.clone(), values.clone()
        written[mask] = -1.0
        expected[drawn] = -1.0
        assert torch.equal(written.cpu(), expected)
