"""torch_npu.utils.find_optimal_batch_size: the result was measured, and leaves nothing behind."""

import threading

import fresh
import pytest
import torch
from torch import nn

from torch_npu.utils import find_optimal_batch_size

MIB = 1 << 20


def small(training=False):
    layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.5)
    return nn.Sequential(*layers).npu().train(training)


def peak(model, x):
    """Bytes that a run allocates beside what was allocated before."""
    torch.npu.empty_cache()
    before = torch.npu.memory_allocated()
    torch.npu.reset_peak_memory_stats()
    x = x.npu()
    with torch.set_grad_enabled(model.training):
        y = model(x)
        if model.training:
            y.sum().backward()
    torch.npu.synchronize()
    model.zero_grad()
    return torch.npu.max_memory_allocated() - before


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
@pytest.mark.parametrize("training", [False, True])
def test_the_result_fits_and_one_more_does_not(training):
    model = small(training)
    size = find_optimal_batch_size(model, 32 * MIB)
    assert size > 2
    assert peak(model, torch.zeros(size, 3, 224, 224)) <= 32 * MIB
    assert peak(model, torch.zeros(size + 1, 3, 224, 224)) > 32 * MIB


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
def test_training_needs_more():
    trained, other = (find_optimal_batch_size(small(t), 32 * MIB) for t in (True, False))
    assert trained < other


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
def test_nothing_is_changed():
    model = small(training=True)
    model(torch.randn(2, 3, 8, 8).npu()).sum().backward()
    before = {name: t.clone() for name, t in model.state_dict().items()}
    gradients = [p.grad.clone() for p in model.parameters()]
    random = torch.npu.get_rng_state()
    allocated = torch.npu.memory_allocated()
    assert find_optimal_batch_size(model, 32 * MIB) > 1
    for name, t in model.state_dict().items():
        assert torch.equal(t, before[name]), name
    for p, gradient in zip(model.parameters(), gradients, strict=True):
        assert torch.equal(p.grad, gradient)
    assert torch.equal(torch.npu.get_rng_state(), random)
    assert torch.npu.memory_allocated() == allocated
    assert model.training


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
def test_samples_of_several_arguments():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(100, 64)

        def forward(self, tokens, weights):
            return {"out": (self.words(tokens) * weights, None)}

    model = Model().npu()
    sample = torch.zeros(1, 128, dtype=torch.long), torch.ones(1, 128, 64)
    with pytest.raises(ValueError, match=r"begins with Embedding: give .* as sample="):
        find_optimal_batch_size(model, 8 * MIB)
    assert find_optimal_batch_size(model, 8 * MIB, sample) > 10
    assert find_optimal_batch_size(model, 8 * MIB, sample, max_batch_size=7) == 7
    assert find_optimal_batch_size(model, 8 * MIB, sample, max_batch_size=1) == 1


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
def test_batch_norm_of_single_values_begins_with_two():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).npu().train()
    assert find_optimal_batch_size(model, 16 * MIB, max_batch_size=5) == 5


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
def test_bad_arguments():
    on_cpu = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=r"this one is on cpu: move it with model\.npu\(\)"):
        find_optimal_batch_size(on_cpu, MIB)
    both = nn.Sequential(on_cpu, nn.Linear(2, 2).npu())
    with pytest.raises(ValueError, match="this one is on cpu, npu:0"):
        find_optimal_batch_size(both, MIB)
    model = small()
    with pytest.raises(TypeError, match=r"must be a torch\.nn\.Module, but got str"):
        find_optimal_batch_size("resnet50", MIB)
    with pytest.raises(TypeError, match="available_memory must be a number of bytes, but got str"):
        find_optimal_batch_size(model, "2G")
    for size in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="available_memory must be positive bytes"):
            find_optimal_batch_size(model, size)
    with pytest.raises(ValueError, match="max_batch_size must be at least 1"):
        find_optimal_batch_size(model, MIB, max_batch_size=0)
    with pytest.raises(TypeError, match="sample must be a tensor or a tuple of tensors, but got"):
        find_optimal_batch_size(model, MIB, [3])
    with pytest.raises(ValueError, match="at least one tensor"):
        find_optimal_batch_size(model, MIB, ())
    with pytest.raises(ValueError, match=r"batch of one, \[1, \.\.\.\], but its shape is \[2, 3\]"):
        find_optimal_batch_size(model, MIB, torch.ones(2, 3))
    with pytest.raises(torch.OutOfMemoryError, match=r"a batch of 1 needs .* MiB, .* \(1000 bytes"):
        find_optimal_batch_size(model, 1000)
    flat = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(10, 2)).npu()
    with pytest.raises(ValueError, match=r"default input, zeros of \[1, 3, 224, 224\].*sample="):
        find_optimal_batch_size(flat, 100 * MIB)
    assert find_optimal_batch_size(model, 8 * MIB) > 1  # still works


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
def test_threads_wait_for_each_other():
    model = small()
    expected = find_optimal_batch_size(model, 32 * MIB)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(find_optimal_batch_size(model, 32 * MIB)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3


OUT_OF_MEMORY = """
import torch
from torch_npu.utils import find_optimal_batch_size
model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU()).npu().eval()
size = find_optimal_batch_size(model, float("inf"))
with torch.no_grad():
    model(torch.zeros(size, 3, 224, 224, device="npu"))
    try:
        model(torch.zeros(size + 1, 3, 224, 224, device="npu"))
        torch.npu.synchronize()
    except torch.OutOfMemoryError as error:
        print(size, error)
print(find_optimal_batch_size(model, None) in (size - 1, size))
"""


@pytest.mark.api("torch_npu.utils.find_optimal_batch_size")
def test_the_devices_memory_ends_the_search_and_the_error_names_the_function():
    first, *_, last = fresh.output(OUT_OF_MEMORY, SOFTNPU_HBM="192M").splitlines()
    size, text = first.split(" ", 1)
    assert 2 < int(size) < 60
    assert text.startswith("NPU out of memory. Tried to allocate")
    assert "torch_npu.utils.find_optimal_batch_size measures the largest that fits" in text
    assert last == "True"
