"""Tensors on CPU and npu, and reasons to skip a test."""

import functools
import itertools
import unittest
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

import torch_npu
from torch_npu._core import environment
from torch_npu.testing._baselines import (
    PERF_BASELINE_FILE,
    PERF_TEST_ENABLE,
    Baseline,
    PerfBaseline,
    dump_baseline,
)

Test = Callable[..., object]
_NO_FORMAT = -1


@contextmanager
def freeze_rng_state() -> Iterator[None]:
    """The CPU's generator has its state again at the end."""
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)


def iter_indices(tensor: torch.Tensor) -> Iterable:
    """Every index of ``tensor``: numbers for one dimension, tuples for more; none for a tensor without dimensions."""
    if tensor.dim() == 0:
        return range(0)
    if tensor.dim() == 1:
        return range(tensor.size(0))
    return itertools.product(*(range(size) for size in tensor.size()))


def is_iterable(obj: object) -> bool:
    """Whether ``iter(obj)`` works."""
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def get_npu_device() -> str:
    """The device of tests: ``npu:0``, or the one with the number in the variable ``SET_NPU_DEVICE``."""
    return f"npu:{environment.integer('SET_NPU_DEVICE')}"


def set_npu_device() -> str:
    """Makes :func:`get_npu_device` the current device and returns it."""
    device = get_npu_device()
    torch.npu.set_device(device)
    return device


def _on_both(
    values: np.ndarray, npu_format: int, device: str | None
) -> tuple[torch.Tensor, torch.Tensor]:
    cpu = torch.from_numpy(values)
    npu = cpu.clone().to(device or get_npu_device())
    return cpu, npu if npu_format == _NO_FORMAT else torch_npu.npu_format_cast(npu, npu_format)


def create_common_tensor(
    item: tuple, minValue: float, maxValue: float, device: str | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Uniform numbers as a CPU and an npu tensor.

    Args:
        item: NumPy's dtype, the npu tensor's format (-1: the default one), the shape.
        minValue: the least number.
        maxValue: the bound, which is not drawn.
        device: :func:`get_npu_device` by default.
    """
    dtype, npu_format, shape = item
    values = np.random.uniform(minValue, maxValue, shape).astype(dtype)
    return _on_both(values, npu_format, device)


def create_dtype_tensor(
    shape: tuple[int, ...],
    dtype: torch.dtype,
    npu_format: int = _NO_FORMAT,
    min_value: float = -5,
    max_value: float = 5,
    no_zero: bool = False,
    device: str | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same for PyTorch's bool, float16, float32, and int32, which stands for all other types.

    Integers include ``max_value``. With ``no_zero`` zeros become ones. Formats are for floating-point tensors.
    """
    if dtype == torch.bool:
        values = np.random.randint(0, 2, size=shape).astype(bool)
    elif dtype in (torch.float16, torch.float32):
        kind = np.float16 if dtype == torch.float16 else np.float32
        values = np.random.uniform(min_value, max_value, shape).astype(kind)
    else:
        values = np.random.randint(min_value, max_value + 1, size=shape).astype(np.int32)
    if no_zero:
        values = np.where(values != 0, values, np.ones_like(values))
    is_floating = dtype in (torch.float16, torch.float32)
    return _on_both(values, npu_format if is_floating else _NO_FORMAT, device)


def test_2args_broadcast(fn: Callable) -> list[list[np.ndarray]]:
    """Results of ``fn`` for two arguments that broadcast, in pairs: the CPU's and npu's."""
    results = []
    for shape in ((1, 1, 1), (4, 5)):
        x, npu_x = create_common_tensor((np.float32, _NO_FORMAT, (2, 3, 4, 5)), 0, 1)
        y, npu_y = create_common_tensor((np.float32, _NO_FORMAT, shape), 0, 1)
        results.append([fn(x, y).numpy(), fn(npu_x, npu_y).cpu().numpy()])
    return results


test_2args_broadcast.__test__ = False  # a helper: test runners must not collect it


def check_operators_in_prof(
    expected_operators: list[str], prof: object, unexpected_operators: list[str] | None = None
) -> bool:
    """Whether a profile has all expected operators, which are removed from the list, and no unexpected one."""
    names = [event.key.replace("cached_", "") for event in prof.key_averages()]
    if not set(names).isdisjoint(unexpected_operators or ()):
        return False
    for name in names:
        if name in expected_operators:
            expected_operators.remove(name)
    return not expected_operators


def _skip_if(reason: Callable[[], str], function: Test) -> Test:
    """``function``, which is skipped where ``reason()`` is not empty when it is called."""

    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> object:
        if text := reason():
            raise unittest.SkipTest(text)
        return function(*args, **kwargs)

    return wrapper


class SkipIfNoLapack:
    """Skips a test where PyTorch was built without LAPACK."""

    def __call__(self, fn: Test) -> Test:
        """``fn`` as such a test."""
        return _skip_if(lambda: "" if torch._C.has_lapack else "PyTorch has no LAPACK", fn)


class SkipIfNotRegistered:
    """Always skips: the operators that it asks for are Caffe2's, which PyTorch has no more."""

    def __call__(self, message: str) -> Callable[[Test], Test]:
        """A decorator for tests."""
        return unittest.skip(message)


def _series(name: str) -> str:
    """The series of a SoC: "Ascend910B" of "Ascend910B1", "Ascend910_93" of "Ascend910_9391", "Ascend950"."""
    if name.startswith("Ascend950"):
        return "Ascend950"
    return name[:12] if name.startswith("Ascend910_") else name[:10]


class SupportedDevices:
    """Skips a test on other SoCs than these series."""

    def __init__(self, supported_devices: list[str]) -> None:
        """``supported_devices``: such as ``["Ascend910B"]``."""
        self.supported_devices = supported_devices

    def __call__(self, fn: Test) -> Test:
        """``fn`` as such a test."""

        def reason() -> str:
            series = _series(torch_npu.npu.get_device_name(0))
            wanted = self.supported_devices
            return "" if series in wanted else f"only on {wanted}: this is an {series}"

        return _skip_if(reason, fn)


class SkipIfNotGteCANNVersion:
    """Skips a test with a package of CANN that is older than ``base_version``."""

    def __init__(self, base_version: str, module: str = "CANN") -> None:
        """``module``: a package that ``torch_npu.utils.get_cann_version`` knows."""
        self.base_version = base_version
        self.module = module

    def __call__(self, fn: Test) -> Test:
        """``fn`` as such a test."""

        def reason() -> str:
            if torch_npu.npu.utils._is_gte_cann_version(self.base_version, module=self.module):
                return ""
            version = torch_npu.utils.get_cann_version(module=self.module)
            return f"needs {self.module} {self.base_version} or newer, not {version}"

        return _skip_if(reason, fn)


def get_cycles_per_ms() -> float:
    """The cycles of ``torch.npu._sleep`` in a millisecond.

    Raises:
        NotImplementedError: always, since a software NPU has no instruction that waits for a number of cycles.
    """
    raise NotImplementedError("a software NPU has no torch.npu._sleep, whose cycles this counts")


__all__ = [
    "PERF_BASELINE_FILE",
    "PERF_TEST_ENABLE",
    "Baseline",
    "PerfBaseline",
    "SkipIfNoLapack",
    "SkipIfNotGteCANNVersion",
    "SkipIfNotRegistered",
    "SupportedDevices",
    "check_operators_in_prof",
    "create_common_tensor",
    "create_dtype_tensor",
    "dump_baseline",
    "freeze_rng_state",
    "get_cycles_per_ms",
    "get_npu_device",
    "is_iterable",
    "iter_indices",
    "set_npu_device",
    "test_2args_broadcast",
]
