"""Random numbers: generators whose state is a seed and an offset (16 bytes)."""

from collections.abc import Iterable

import torch

from torch_npu._core import devices, state
from torch_npu.npu.device import device_count

default_generators: tuple[torch.Generator, ...] = ()


def _make_default_generators() -> tuple[torch.Generator, ...]:
    global default_generators
    native = state.native()
    default_generators = tuple(native.default_generator(i) for i in range(device_count()))
    return default_generators


def _generator(device: devices.Device = "npu") -> torch.Generator:
    return default_generators[devices.device_index(device)]


def get_default_generator(device_index: int) -> torch.Generator:
    """The default generator of the device with an index.

    Raises:
        IndexError: there is no such device.
    """
    return default_generators[device_index]


def _get_rng_state_offset(device: devices.Device = "npu") -> int:
    """The offset of ``device``'s default generator, in random numbers; a multiple of 4."""
    return int(_generator(device).get_offset())


def _set_rng_state_offset(offset: int, device: devices.Device = "npu") -> None:
    """Sets the offset of :func:`_get_rng_state_offset`; the seed stays.

    Raises:
        RuntimeError: ``offset`` is not a multiple of 4.
    """
    _generator(device).set_offset(offset)


def get_rng_state(device: devices.Device = "npu") -> torch.Tensor:
    """The state of ``device``'s default generator: 16 bytes, seed and offset, on the CPU."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of all devices."""
    return [get_rng_state(i) for i in range(device_count())]


def set_rng_state(new_state: torch.Tensor, device: devices.Device = "npu") -> None:
    """Sets the state of ``device``'s default generator.

    Raises:
        RuntimeError: ``new_state`` is not 16 bytes on the CPU.
    """
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Sets the states of all devices."""
    for index, new_state in enumerate(new_states):
        set_rng_state(new_state, index)


def manual_seed(seed: int) -> None:
    """Seeds the current device's default generator."""
    if default_generators:
        _generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds every device's default generator."""
    for generator in default_generators:
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seeds the current device's default generator from the system's randomness."""
    _generator().seed()


def seed_all() -> None:
    """Seeds every device's default generator with the same random seed."""
    if default_generators:
        manual_seed_all(default_generators[0].seed())


def initial_seed() -> int:
    """The seed of the current device's default generator."""
    return _generator().initial_seed()
