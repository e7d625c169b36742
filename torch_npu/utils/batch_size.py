"""The largest batch that fits into memory, found by running the model."""

import gc
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from torch_npu.npu import memory, random
from torch_npu.npu.device import current_device, synchronize

__all__ = ["find_optimal_batch_size"]

# The edges of images in the default input of a network that begins with a convolution.
_PIXELS = 224
_MIB = 1 << 20
# One search at a time: the peak is the device's, and another search would add to it.
_one_search = threading.Lock()


def find_optimal_batch_size(
    model: nn.Module,
    available_memory: float | None = None,
    sample: Tensor | tuple[Tensor, ...] | None = None,
    *,
    max_batch_size: int = 1024,
) -> int:
    """The largest batch size with which ``model`` runs in ``available_memory``.

    Each candidate is run, and its peak is read from :func:`torch.npu.max_memory_allocated`: the result was measured,
    and so was the next larger size, which did not fit. A model in training mode (``model.training``) runs forward and
    backward, with the gradients of its parameters but without an optimizer's state; another one runs forward without
    gradients. Parameters, gradients, buffers and the random state of the device are the same afterwards. Meanwhile
    nothing else should allocate on the device, whose peak statistics are reset; searches of several threads wait for each
    other.

    Args:
        model: on one npu.
        available_memory: in bytes: how much a run may allocate beside what is allocated before, such as the model's
            weights. By default what is free on the device.
        sample: the arguments of the model for a batch of one, each ``[1, ...]``. They are repeated along dimension 0.
            By default zeros, made for the first layer with weights: ``[1, in_channels, 224, 224]`` for a Conv2d,
            ``[1, in_features]`` for a Linear.
        max_batch_size: larger sizes are not tried.

    Raises:
        TypeError: ``model`` or ``sample`` has another type.
        ValueError: the model is not on one npu, a number is not positive, or the model needs a ``sample``.
        torch.OutOfMemoryError: not even the smallest batch fits.

    Example:
        >>> free, _ = torch.npu.mem_get_info()
        >>> batch_size = torch_npu.utils.find_optimal_batch_size(model, free / 2)
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, but got {type(model).__name__}")
    if max_batch_size < 1:
        raise ValueError(f"max_batch_size must be at least 1, but got {max_batch_size}")
    device = _device_of(model)
    with _one_search:
        inputs = _inputs(model, sample, device)
        return _largest(model, inputs, available_memory, sample is None, max_batch_size)


def _largest(
    model: nn.Module,
    inputs: tuple[Tensor, ...],
    available_memory: float | None,
    is_default: bool,
    most: int,
) -> int:
    """The result for checked arguments; ``is_default``: the inputs are made here."""
    device = inputs[0].device
    _free_everything()
    free, total = memory.mem_get_info(device)
    if available_memory is None:
        available_memory = free
    if not isinstance(available_memory, int | float):
        kind = type(available_memory).__name__
        raise TypeError(f"available_memory must be a number of bytes, but got {kind}")
    if not available_memory > 0:
        raise ValueError(f"available_memory must be positive bytes, but got {available_memory}")
    available_memory = min(available_memory, total)
    measured = _Measured(model, inputs, device)
    with _unchanged(model, device):
        try:
            smallest = _smallest(measured)
        except Exception as error:
            if not is_default:
                raise
            reason = str(error).split("\n[ERROR]")[0]  # without the line of the official code
            raise ValueError(
                f"the model does not run on its default input, zeros of {list(inputs[0].shape)} ({reason}): "
                "give its arguments for a batch of one as sample="
            ) from error
        return _search(measured, smallest, available_memory, most)


class _Measured:
    """Bytes that a run allocates at its peak, by batch size; infinite where the device has too few."""

    def __init__(self, model: nn.Module, inputs: tuple[Tensor, ...], device: torch.device) -> None:
        self._model, self._inputs, self._device = model, inputs, device
        self._known: dict[int, float] = {}

    def __call__(self, batch: int) -> float:
        if batch not in self._known:
            self._known[batch] = self._peak(batch)
        return self._known[batch]

    def _peak(self, batch: int) -> float:
        _free_everything()
        before = memory.memory_allocated(self._device)
        memory.reset_peak_memory_stats(self._device)
        try:
            _run(self._model, self._inputs, batch)
            synchronize(self._device)
        except torch.OutOfMemoryError:
            return float("inf")
        finally:
            for parameter in self._model.parameters():
                parameter.grad = None
        return memory.max_memory_allocated(self._device) - before


def _search(measured: Callable[[int], float], smallest: int, available: float, most: int) -> int:
    if measured(smallest) > available:
        needed = measured(smallest)
        amount = f"{needed / _MIB:.1f} MiB" if needed < float("inf") else "more than is free"
        raise torch.OutOfMemoryError(
            f"find_optimal_batch_size: a batch of {smallest} needs {amount}, and available_memory is "
            f"{available / _MIB:.1f} MiB ({available:.0f} bytes)"
        )
    fits, too_large = smallest, most + 1
    while fits + 1 < too_large:
        batch = _candidate(measured, fits, too_large, smallest, available)
        if measured(batch) <= available:
            fits = batch
        else:
            too_large = batch
    return fits


def _smallest(measured: Callable[[int], float]) -> int:
    """1, or 2 for a model whose batch norm in training needs more than one value."""
    try:
        measured(1)
    except ValueError:
        measured(2)
        return 2
    return 1


def _candidate(
    measured: Callable[[int], float], fits: int, too_large: int, smallest: int, available: float
) -> int:
    """The next size to run, between both: where a line through two measured sizes meets the available memory.

    The first step doubles. Later ones at most quadruple, as a line through two small sizes may lead far beyond.
    """
    if fits == smallest:
        return min(2 * fits, too_large - 1)
    slope = (measured(fits) - measured(smallest)) / (fits - smallest)
    most = 3.0 * fits
    reach = min((available - measured(fits)) / slope, most) if slope > 0 else most
    batch = fits + max(1, int(reach))
    return batch if batch < too_large else fits + (too_large - fits) // 2


def _run(model: nn.Module, inputs: tuple[Tensor, ...], batch: int) -> None:
    arguments = [t.expand(batch, *t.shape[1:]).contiguous() for t in inputs]
    with torch.set_grad_enabled(model.training):
        output = model(*arguments)
        if model.training:  # as in a training loop, the batch and the output are alive meanwhile
            loss = sum(t.sum() for t in _tensors(output) if t.requires_grad)
            if isinstance(loss, Tensor):
                loss.backward()


def _tensors(value: object) -> Iterator[Tensor]:
    """The tensors of a model's output: one, or in sequences and mappings."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


def _device_of(model: nn.Module) -> torch.device:
    devices = {t.device for t in (*model.parameters(), *model.buffers())}
    if not devices:
        return torch.device("npu", current_device())
    if len(devices) > 1 or next(iter(devices)).type != "npu":
        names = ", ".join(sorted(map(str, devices)))
        raise ValueError(
            f"find_optimal_batch_size measures a model on one npu, and this one is on {names}: "
            "move it with model.npu()"
        )
    return devices.pop()


def _inputs(model: nn.Module, sample: object, device: torch.device) -> tuple[Tensor, ...]:
    if sample is None:
        return (_default_input(model, device),)
    tensors = tuple(sample) if isinstance(sample, list | tuple) else (sample,)
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"sample must be a tensor or a tuple of tensors, but got {type(tensor).__name__}"
            )
        if tensor.dim() == 0 or tensor.shape[0] != 1:
            raise ValueError(
                f"sample must be a batch of one, [1, ...], but its shape is {list(tensor.shape)}"
            )
    if not tensors:
        raise ValueError("sample must have at least one tensor")
    return tuple(tensor.detach().to(device) for tensor in tensors)


def _default_input(model: nn.Module, device: torch.device) -> Tensor:
    layer = next((m for m in model.modules() if next(m.parameters(False), None) is not None), None)
    shape: tuple[int, ...]
    if isinstance(layer, nn.Conv2d):
        shape = (1, layer.in_channels, _PIXELS, _PIXELS)
    elif isinstance(layer, nn.Linear):
        shape = (1, layer.in_features)
    else:
        kind = "no layer with weights" if layer is None else type(layer).__name__
        raise ValueError(
            f"find_optimal_batch_size does not know the input of a model that begins with {kind}: "
            "give its arguments for a batch of one as sample="
        )
    return torch.zeros(shape, device=device, dtype=layer.weight.dtype)


def _free_everything() -> None:
    """Frees what a preceding run has left: the sizes of cached blocks would change the next peak."""
    gc.collect()
    memory.empty_cache()


@contextmanager
def _unchanged(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Restores gradients, buffers and the device's random state."""
    gradients = [(p, p.grad) for p in model.parameters()]
    buffers: list[tuple[Tensor, Any]] = [(b, b.cpu()) for b in model.buffers()]
    state = random.get_rng_state(device)
    try:
        for parameter, _ in gradients:
            parameter.grad = None
        yield
    finally:
        for parameter, gradient in gradients:
            parameter.grad = gradient
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
        random.set_rng_state(state, device)
        _free_everything()
