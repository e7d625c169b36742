"""Threads: concurrent work, waits that release the GIL, thread-local state."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fresh
import memory_use
import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

THREADS = 6


def in_threads(work, count: int = THREADS) -> list:
    """Runs ``work(index)`` on ``count`` threads that start simultaneously; returns the results, or raises the first
    exception."""
    barrier = threading.Barrier(count)

    def run(index):
        barrier.wait()
        return work(index)

    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(run, index) for index in range(count)]]


def reference(index: int, rounds: int, device: str) -> torch.Tensor:
    """A mix of products, which are queued, and host kernels, which are not; each result depends on the preceding
    ones."""
    generator = torch.Generator().manual_seed(index)
    a = torch.randint(-2, 3, (96, 96), generator=generator).float().to(device)
    total = torch.zeros(96, 96, device=device)
    for step in range(rounds):
        product = a @ a  # integers below 2^24: exact in any order
        total = (total + product).remainder(127)
        a = (a + total[:, step % 96]).remainder(5) - 2
        del product  # freed while it may still be queued
    return total.cpu()


@pytest.mark.parametrize("own_stream", [False, True])
def test_many_threads_submit_at_once(own_stream):
    rounds = 60

    def work(index):
        if not own_stream:
            return reference(index, rounds, "npu")
        with torch.npu.stream(torch.npu.Stream()):
            return reference(index, rounds, "npu")

    for index, result in enumerate(in_threads(work)):
        assert torch.equal(result, reference(index, rounds, "cpu"))


def test_a_block_freed_by_another_thread_after_queued_work():
    # The kernel counts first and then allocates. Meanwhile the other thread queues a product and frees its result,
    # whose block has the size of the kernel's allocation: it must not be written before the product is done.
    ones = torch.ones(1024, 1024, device="npu")
    mask = (torch.arange(4 << 20) % 8 == 0).npu()
    expected = torch.arange(0, 4 << 20, 8).npu().view(-1, 1)
    done = threading.Event()

    def multiply():
        while not done.is_set():
            ones @ ones
            torch.npu.synchronize()

    thread = threading.Thread(target=multiply)
    thread.start()
    try:
        assert not any(bool((mask.nonzero() != expected).any()) for _ in range(20))
    finally:
        done.set()
        thread.join()


def test_threads_read_one_tensor_at_once():
    # Each round has a new tensor: the threads concurrently make its first CPU view.
    rounds = 100
    tensors = [torch.full((64,), float(i)).npu() for i in range(rounds)]
    modules = [torch.nn.Linear(8, 8).npu() for _ in range(rounds)]
    x = torch.ones(4, 8, device="npu")
    barrier = threading.Barrier(THREADS)

    def work(_):
        sums, outputs = [], []
        for i in range(rounds):
            barrier.wait()
            sums.append((tensors[i] + tensors[i]).sum().item())
            outputs.append(modules[i](x).detach())
        return sums, outputs

    results = in_threads(work)
    for sums, outputs in results:
        assert sums == [128.0 * i for i in range(rounds)]
        for output, expected in zip(outputs, results[0][1], strict=True):
            assert torch.equal(output, expected)


WAITS = {
    "torch.npu.synchronize": "torch.npu.synchronize()",
    "torch.accelerator.synchronize": "torch.accelerator.synchronize()",
    "Stream.synchronize": "stream.synchronize()",
    "Event.synchronize": "event.synchronize()",
    "item": "x[0].item()",
    "cpu": "x.cpu()",
    "tolist": "x.tolist()",
    "to, pinned": "torch.empty(4, pin_memory=True).copy_(x)",
    "npu": "x.copy_(torch.ones(4))",
    "an operator of the AI CPU": "torch.i0(x)",
    # prod's gradient checks for zeros.
    "an operator in a backward pass": "x.clone().requires_grad_().prod().backward()",
    "empty_cache": "torch.npu.empty_cache()",
    "nonzero": "x.nonzero()",
    "print": "repr(x)",
    "marks behind a full queue": "[event.record() for _ in range(2000)]; event.synchronize()",
    "work behind a full queue": "[x.copy_(x.clone()) for _ in range(1000)]",
}

WAIT = """
import sys, threading, torch
sys.path.insert(0, sys.argv[1])
import gated
x = torch.ones(4, device="npu")
event, warm = torch.npu.Event(), torch.npu.Event()
(x + 1).tolist(), repr(x), warm.record(), warm.synchronize()  # what is made at the first use is there
stream = torch.npu.current_stream()
ran, other = [], []
go = threading.Event()
thread = threading.Thread(target=lambda: (go.wait(), other.append(1)))
thread.start()

def work():
    # On the device's thread: another Python thread goes on, too, while the main thread waits.
    ran.append(threading.get_ident())
    go.set()
    thread.join()

with gated.no_switching():
    gated.launch(stream, work)
    event.record()
    assert not ran  # nothing could run so far: the GIL was not given away
    {wait}
    assert ran and other
assert ran != [threading.get_ident()]
print("ok")
"""


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())
def test_python_runs_while_a_thread_waits(wait):
    program = WAIT.replace("{wait}", wait)
    # Inline work would run on the caller's thread. The time-out is for a failure: a wait with the GIL never ends.
    result = fresh.output(program, str(Path(fresh.__file__).parent), SOFTNPU_INLINE="0")
    assert result == "ok"


def test_state_is_each_threads_own():
    main_stream = torch.npu.current_stream()

    def work(index):
        assert torch.npu.current_device() == 0
        assert torch.npu.current_stream() == torch.npu.default_stream()
        mine = torch.npu.Stream()
        torch.npu.set_stream(mine)
        barrier.wait()
        kept = torch.npu.current_stream() == mine
        with torch.no_grad() if index % 2 else torch.enable_grad():
            barrier.wait()
            grad = (torch.ones(1, device="npu", requires_grad=True) * 2).requires_grad
        with torch.autocast("npu", dtype=torch.bfloat16, enabled=index % 2 == 0):
            barrier.wait()
            low = torch.mm(eye, eye).dtype == torch.bfloat16
        return kept, grad == (index % 2 == 0), low == (index % 2 == 0)

    eye = torch.eye(3, device="npu")
    barrier = threading.Barrier(THREADS)
    assert in_threads(work) == [(True, True, True)] * THREADS
    assert torch.npu.current_stream() == main_stream


def test_own_generators_repeat_in_threads():
    def work(index):
        generator = torch.Generator("npu").manual_seed(index)
        return [torch.rand(50, device="npu", generator=generator).cpu() for _ in range(20)]

    for one, two in zip(in_threads(work), in_threads(work), strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_the_default_generator_is_shared_and_gives_each_number_once():
    torch.npu.manual_seed(0)
    alone = {float(torch.rand(1, device="npu")) for _ in range(THREADS * 40)}
    torch.npu.manual_seed(0)
    drawn = in_threads(lambda _: [float(torch.rand(1, device="npu")) for _ in range(40)])
    assert {x for part in drawn for x in part} == alone


def test_backward_passes_of_several_threads():
    torch.manual_seed(0)
    shared = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4))
    on_npu = copy.deepcopy(shared).npu()
    xs = [torch.randn(8, 16) for _ in range(THREADS)]

    def gradients(model, x):
        return torch.autograd.grad(model(x).square().sum(), list(model.parameters()))

    found = in_threads(lambda i: [gradients(on_npu, xs[i].npu()) for _ in range(20)])
    for x, rounds in zip(xs, found, strict=True):
        for grads in rounds:
            for e, a in zip(gradients(shared, x), grads, strict=True):
                accuracy.assert_close(a, e, Tolerance(1e-4, 1e-5), equal_nan=False)


def test_threads_add_to_the_same_gradient():
    weight = torch.nn.Parameter(torch.ones(64, device="npu"))
    in_threads(lambda i: [(weight * (i + 1)).sum().backward() for _ in range(20)])
    assert torch.equal(weight.grad.cpu(), torch.full((64,), 20.0 * sum(range(1, THREADS + 1))))


def test_a_backward_pass_in_another_thread_than_the_forward_pass():
    x = torch.arange(4.0, device="npu", requires_grad=True)
    loss = x.square().sum()
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()
    assert x.grad.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_an_exception_in_a_thread_is_that_threads_own():
    def work(index):
        caught = 0
        total = torch.zeros(8, device="npu")
        for _ in range(30):
            if index % 2:
                try:
                    torch.ones(3, 4, device="npu") @ torch.ones(3, 4, device="npu")
                except RuntimeError as error:
                    caught += "cannot be multiplied" in str(error)
                try:
                    torch.empty(1 << 44, dtype=torch.uint8, device="npu")
                except torch.OutOfMemoryError:
                    caught += 1
            total += 1
        torch.npu.synchronize()
        return caught, total.tolist()

    assert in_threads(work) == [(60 * (i % 2), [30.0] * 8) for i in range(THREADS)]


FAILED_TASK = """
import ctypes, sys, threading, torch
sys.path.insert(0, sys.argv[1])
import gated

def fails(_, message, size):
    ctypes.memmove(message, b"made to fail\\0", 13)
    return 507015

task = gated._Task(b"broken", 0, gated._RUN(fails), gated._RELEASE(lambda _: None), None)
acl = ctypes.CDLL(gated._load.bound_library())
streams = [torch.npu.Stream() for _ in range(2)]
x = torch.ones(4, device="npu")
acl.softnpuLaunch(ctypes.c_void_p(streams[0].native_handle), ctypes.byref(task))
said = []

def work(stream):
    with torch.npu.stream(stream):
        try:
            said.append((stream.stream_id, (x + 1).tolist()))
        except RuntimeError as error:
            said.append((stream.stream_id, str(error).splitlines()[0]))
        assert (x + 1).tolist() == [2.0] * 4  # told once, and gone

for stream in streams:
    thread = threading.Thread(target=work, args=(stream,))
    thread.start()
    thread.join()
assert said[0][0] == streams[0].stream_id and "broken on stream" in said[0][1] and "made to fail" in said[0][1], said
assert said[1] == (streams[1].stream_id, [2.0] * 4)
print("ok")
"""


def test_an_asynchronous_error_is_raised_by_a_wait_for_its_stream():
    assert fresh.output(FAILED_TASK, str(Path(fresh.__file__).parent)) == "ok"


def test_loaders_with_workers_and_pinned_batches():
    data = torch.utils.data.TensorDataset(torch.arange(240.0).view(60, 4), torch.arange(60))
    loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
    weight = torch.nn.Parameter(torch.ones(4, device="npu"))
    for _ in range(2):
        rows, labels = [], []
        for x, y in loader:
            assert x.is_pinned()
            assert y.is_pinned()
            x, y = x.npu(non_blocking=True), y.npu(non_blocking=True)
            (x * weight).sum().backward()
            rows.append(x)
            labels.append(y)
        assert torch.equal(torch.cat(rows).cpu(), data.tensors[0])
        assert torch.equal(torch.cat(labels).cpu(), data.tensors[1])
    assert torch.equal(weight.grad.cpu(), 2 * data.tensors[0].sum(0))


def test_ended_threads_release_their_memory():
    before = memory_use.settled()
    in_threads(lambda i: torch.ones(1000 * (i + 1), device="npu").sum().item())
    assert torch.npu.memory_allocated() == before
