"""Tests that need two devices. Run by test_two_devices.py in a separate process."""

import gc
import threading

import gated
import pytest
import torch
from opinfo.cases import check_in_device_memory

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.uint16, torch.bool,
    torch.complex64, torch.float8_e4m3fn,
]  # fmt: skip

LAYOUTS = {
    "dense": lambda t: t,
    "transposed": lambda t: t.transpose(0, 2),
    "sliced": lambda t: t[1:, ::2, 1:4],
    "expanded": lambda t: t[:1].expand(3, -1, -1),
    "empty": lambda t: t[:0],
    "scalar": lambda t: t[0, 0, 0],
}


@pytest.fixture(autouse=True)
def first_device_is_current():
    assert torch.npu.device_count() == 2
    yield
    assert torch.npu.current_device() == 0
    assert all(torch.npu.current_stream(i) == torch.npu.default_stream(i) for i in range(2))


def numbers(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(60).view(3, 4, 5).remainder(7).to(dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("source", "target"), [(0, 1), (1, 0)])
def test_copies(source, target, dtype, layout):
    base = numbers(dtype)
    expected = LAYOUTS[layout](base)
    x = LAYOUTS[layout](base.to(f"npu:{source}"))
    y = x.to(f"npu:{target}")
    z = torch.zeros_like(x, device=f"npu:{target}")
    z.copy_(x, non_blocking=True)
    widened = torch.zeros((*x.shape, 2), dtype=dtype, device=f"npu:{target}")
    widened[..., 0].copy_(x)
    for t in (y, z, widened[..., 0]):
        assert t.device.index == target
        assert torch.equal(t.cpu().view(torch.uint8) if dtype.itemsize == 1 else t.cpu(),
                           expected.contiguous().view(torch.uint8) if dtype.itemsize == 1 else expected)  # fmt: skip
    check_in_device_memory([x, y, z, widened])
    if dtype.itemsize > 1:
        assert int(widened[..., 1].ne(0).sum()) == 0


@pytest.mark.parametrize(("source", "target"), [(0, 1), (1, 0)])
def test_copies_that_convert(source, target):
    x = numbers(torch.float32).to(f"npu:{source}")
    assert torch.equal(x.to(f"npu:{target}", torch.int64).cpu(), numbers(torch.int64))
    y = torch.zeros(5, 4, 3, dtype=torch.complex64, device=f"npu:{target}").transpose(0, 2)
    assert torch.equal(y.copy_(x).cpu(), numbers(torch.complex64))
    lazy = numbers(torch.complex64).add(1j).to(f"npu:{source}").conj()
    assert torch.equal(lazy.to(f"npu:{target}").cpu(), numbers(torch.complex64).sub(1j))


@pytest.mark.parametrize(("source", "target"), [(0, 1), (1, 0)])
def test_copies_follow_queued_work(source, target):
    a = torch.randint(-2, 3, (300, 300)).float()
    on_source = a.to(f"npu:{source}")
    for _ in range(10):
        product = on_source @ on_source
        there = product.to(f"npu:{target}")
        product.zero_()
        assert torch.equal((there @ there).cpu(), (a @ a) @ (a @ a))


@pytest.mark.parametrize(("source", "target"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("busy", ["source", "target"])
def test_copies_do_not_block_the_host(source, target, busy):
    x = torch.arange(1000.0, device=f"npu:{source}")
    y = torch.zeros(1000, device=f"npu:{target}")
    gate = threading.Event()
    in_time = []
    device = source if busy == "source" else target
    gated.launch(torch.npu.current_stream(device), lambda: in_time.append(gate.wait(timeout=30)))
    y.copy_(x)
    x.copy_(torch.zeros_like(x))  # the copy has already read it
    z = x.to(f"npu:{target}")
    gate.set()
    assert torch.equal(y.cpu(), torch.arange(1000.0))
    assert torch.equal(z.cpu(), torch.zeros(1000))
    assert in_time == [True]  # the gate opened after the copies


def test_gradients_cross_devices():
    x = torch.randn(4, 4)
    w0 = x.clone().to("npu:0").requires_grad_()
    w1 = x.clone().to("npu:1").requires_grad_()
    loss = ((w0 @ w0).to("npu:1") * w1).sum().to("npu:0")
    loss.backward()
    c0, c1 = x.clone().requires_grad_(), x.clone().requires_grad_()
    ((c0 @ c0) * c1).sum().backward()
    assert (w0.grad.device.index, w1.grad.device.index) == (0, 1)
    torch.testing.assert_close(w0.grad.cpu(), c0.grad)
    torch.testing.assert_close(w1.grad.cpu(), c1.grad)


def test_operators_stay_on_their_device():
    x = torch.randn(10, 100, device="npu:1")
    for y in (
        x.t() + 1,
        x.view(100, 10)[::2].sum(0),
        x @ x.t(),
        torch.empty_like(x),
        x.nonzero(),
        x.sort()[1],
    ):
        assert y.device.index == 1
        check_in_device_memory(y)
    assert torch.npu.current_device() == 0


def test_events_across_devices():
    first, second = torch.npu.Stream(0), torch.npu.Stream(1)
    a = torch.ones(1200, 1200, device="npu:0")
    marks = [torch.npu.Event(enable_timing=True) for _ in range(4)]
    first.wait_stream(torch.npu.default_stream(0))
    with torch.npu.stream(first):
        marks[0].record()
        product = a @ a
        marks[1].record()
    with torch.npu.stream(second):
        marks[2].record()
        marks[1].wait()
        marks[3].record()
    second.synchronize()
    assert marks[1].query()  # the other device's work was waited for
    assert marks[0].elapsed_time(marks[1]) > 0
    assert marks[2].elapsed_time(marks[3]) >= 0
    assert product[0, 0].item() == 1200
    assert second.device_index == 1
    mark = torch.Event("npu:0")
    mark.record(first)
    with pytest.raises(RuntimeError, match="does not match the recording stream's device"):
        mark.record(second)


def test_streams_of_both_devices_at_once():
    a = torch.randint(-2, 3, (200, 200)).float()
    expected = a
    for _ in range(3):
        expected = (expected @ a).remainder(5) - 2
    found = {}

    def work(index):
        with torch.npu.stream(torch.npu.Stream(index)):
            assert torch.npu.current_device() == index
            x = y = a.to(f"npu:{index}")
            for _ in range(3):
                y = (y @ x).remainder(5) - 2
            found[index] = y

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.npu.synchronize(0)
    torch.npu.synchronize(1)
    assert [found[i].device.index for i in range(2)] == [0, 1]
    assert all(torch.equal(found[i].cpu(), expected) for i in range(2))


def test_set_device_and_contexts():
    torch.npu.set_device(1)
    try:
        assert torch.npu.current_device() == 1
        assert torch.ones(2, device="npu").device.index == 1
        with torch.npu.device(0):
            assert torch.ones(2).npu().device.index == 0
            with torch.npu.device("npu:1"), torch.npu.device(None), torch.npu.device(-1):
                assert torch.npu.current_stream().device_index == 1
        x = torch.ones(2, device="npu:0")
        for thing in (x, x.untyped_storage()):
            with torch.npu.device_of(thing):
                assert torch.npu.current_device() == 0
        for thing in (torch.ones(2), "text", None):
            with torch.npu.device_of(thing):
                assert torch.npu.current_device() == 1
        with pytest.raises(ZeroDivisionError), torch.npu.device(0):
            1 / 0  # noqa: B018  # an exception leaves the context, too
        assert torch.npu.current_device() == 1
        with torch.device("npu"):
            assert torch.ones(2).device.index == 1
        with torch.device("npu:0"):
            assert torch.ones(2).device.index == 0
    finally:
        torch.npu.set_device(0)


def test_the_current_device_is_each_threads_own():
    seen = []
    torch.npu.set_device(1)
    try:
        thread = threading.Thread(target=lambda: seen.append(torch.npu.current_device()))
        thread.start()
        thread.join()
    finally:
        torch.npu.set_device(0)
    assert seen == [0]


def test_streams_and_their_devices():
    on_second = torch.npu.Stream(1)
    with torch.npu.stream(on_second):
        assert torch.npu.current_device() == 1
        assert torch.npu.current_stream() == on_second
        assert torch.npu.current_stream(0) == torch.npu.default_stream(0)
        assert torch.ones(2, device="npu").device.index == 1
    assert torch.npu.current_stream(1) == torch.npu.default_stream(1)
    assert torch.npu.default_stream(0) != torch.npu.default_stream(1)


def test_the_accelerator_interface():
    accelerator = torch.accelerator
    assert accelerator.device_count() == 2
    accelerator.set_device_index(1)
    try:
        assert accelerator.current_device_index() == torch.npu.current_device() == 1
        with accelerator.device_index(0):
            assert accelerator.current_device_index() == 0
            assert accelerator.current_stream().device_index == 0
        stream = torch.Stream("npu:1")
        accelerator.set_stream(stream)
        assert accelerator.current_stream(1) == stream
        accelerator.set_stream(torch.npu.default_stream(1))
        x = torch.ones(1 << 20, device="npu")
        assert accelerator.memory_allocated(1) == torch.npu.memory_allocated(1) >= x.nbytes
        assert accelerator.memory_stats(0) != accelerator.memory_stats(1)
        accelerator.synchronize(0)
        accelerator.synchronize(1)
        accelerator.empty_cache()
    finally:
        accelerator.set_device_index(0)


def test_random_states_of_each_device():
    torch.manual_seed(3)
    a0, a1 = torch.rand(5, device="npu:0"), torch.rand(5, device="npu:1")
    assert torch.equal(a0.cpu(), a1.cpu())  # one seed for all devices
    states = torch.npu.get_rng_state_all()
    assert torch.equal(states[1], torch.npu.get_rng_state(1))
    assert torch.equal(
        torch.npu.get_rng_state("npu:1"), torch.npu.get_rng_state(torch.device("npu:1"))
    )
    b1 = torch.rand(5, device="npu:1")
    assert torch.equal(torch.npu.get_rng_state(0), states[0])  # this device did not draw
    assert not torch.equal(torch.npu.get_rng_state(1), states[1])
    torch.npu.set_rng_state(states[1], 1)
    assert torch.equal(torch.rand(5, device="npu:1"), b1)
    torch.npu.set_rng_state_all(states)
    assert torch.equal(torch.rand(5, device="npu:1"), b1)
    with torch.npu.device(1):
        torch.npu.manual_seed(11)
        assert torch.npu.initial_seed() == 11
    assert torch.npu.initial_seed() == 3
    assert torch.npu.default_generators[1].initial_seed() == 11
    generator = torch.Generator("npu:1").manual_seed(5)
    assert torch.rand(3, generator=generator, device="npu:1").device.index == 1
    torch.npu.manual_seed_all(3)
    assert torch.npu.default_generators[1].initial_seed() == 3


@pytest.mark.parametrize("devices", [None, [0], [1], [0, 1]])
def test_fork_rng(devices):
    torch.manual_seed(1)
    before = [torch.get_rng_state(), *torch.npu.get_rng_state_all()]
    kept = range(2) if devices is None else devices
    with torch.random.fork_rng(devices, device_type="npu"):
        torch.rand(3)
        for index in range(2):
            torch.rand(3, device=f"npu:{index}")
    after = [torch.get_rng_state(), *torch.npu.get_rng_state_all()]
    assert torch.equal(after[0], before[0])
    for index in range(2):
        assert torch.equal(after[1 + index], before[1 + index]) == (index in kept)


def test_memory_statistics_of_each_device():
    gc.collect()  # of earlier programs
    torch.npu.empty_cache()
    before = [torch.npu.memory_allocated(i) for i in range(2)]
    torch.npu.reset_peak_memory_stats(0)
    torch.npu.reset_peak_memory_stats(1)
    x = torch.empty(8 << 20, dtype=torch.uint8, device="npu:1")
    assert [torch.npu.memory_allocated(i) for i in range(2)] == [before[0], before[1] + x.nbytes]
    free0, free1 = (torch.npu.mem_get_info(i)[0] for i in range(2))
    assert free1 < free0
    address = x.data_ptr()
    del x
    assert torch.npu.max_memory_allocated(1) == before[1] + (8 << 20)
    assert torch.npu.max_memory_allocated(0) == before[0]
    segments = [
        s
        for s in torch.npu.memory_snapshot()
        if s["address"] <= address < s["address"] + s["total_size"]
    ]
    assert [s["device"] for s in segments] == [1]
    torch.npu.empty_cache()  # of both devices
    assert torch.npu.mem_get_info(1)[0] > free1
    assert "device ID 1" in torch.npu.memory_summary("npu:1")


def test_record_stream_names_a_stream_of_the_tensors_device():
    x = torch.ones(1 << 20, device="npu:1")
    x.record_stream(torch.npu.Stream(1))
    address = x.data_ptr()
    del x
    torch.npu.synchronize(1)
    torch.empty(1, device="npu:1")
    assert torch.empty(1 << 20, device="npu:1").data_ptr() == address


def test_modules_and_checkpoints(tmp_path):
    model = torch.nn.Linear(4, 2).to("npu:1")
    torch.save(model.state_dict(), tmp_path / "model.pt")
    loaded = torch.load(tmp_path / "model.pt")
    assert all(t.device.index == 1 for t in loaded.values())
    mapped = torch.load(tmp_path / "model.pt", map_location={"npu:1": "npu:0"})
    assert all(t.device.index == 0 for t in mapped.values())
    other = torch.nn.Linear(4, 2).to("npu:0")
    other.load_state_dict(loaded)
    assert torch.equal(other.weight.cpu(), model.weight.cpu())
    assert other.weight.device.index == 0
