"""What monitors say of a device: its load, memory, and modelled sensors. `npu-smi` and these read the same library.

The library is ``libdcmi.so``. On the software NPU load and memory are measured, of all this user's processes on the
device; power, temperature and clock are modelled from the load, since a software NPU has no sensors.
"""

import ctypes
import functools

from torch_npu import softnpu
from torch_npu._core import devices, state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu.npu.device import device_count

# What libdcmi's functions are asked for.
_LOAD_OF_THE_NPU = 13
_SHARE_OF_HBM = 6
_AICORE_CLOCK = 7


@functools.cache
def _library() -> ctypes.CDLL:
    """The monitor library of the CANN that is bound."""
    if state.native().softnpu_version():
        library = ctypes.CDLL(str(softnpu.lib_dir() / "libdcmi.so"))
    else:
        try:
            library = ctypes.CDLL("libdcmi.so")
        except OSError as error:
            raise RuntimeError(
                f"libdcmi.so, the driver's library for monitors, does not load: {error}"
                + pta_error(ErrCode.NOT_FOUND)
            ) from None
    if library.dcmi_init() != 0:
        raise RuntimeError("libdcmi.so cannot be initialised" + pta_error(ErrCode.INTERNAL))
    return library


def checked(device: devices.Device, what: str) -> int:
    """The index of a device.

    Args:
        device: an index, a string or a torch.device; None is the current one.
        what: what the error calls it.

    Raises:
        AssertionError: it does not exist.
    """
    index = device if isinstance(device, int) else devices.device_index(device)
    if not 0 <= index < device_count():
        raise AssertionError(
            f"Invalid {what} id: npu:{index}, there are {device_count()} devices"
            + pta_error(ErrCode.VALUE)
        )
    return index


def _physical(index: int) -> int:
    """The machine's number of a device of this process."""
    number = ctypes.c_int()
    runtime = ctypes.CDLL("libascendcl.so")
    found = runtime.aclrtGetLogicDevIdByUserDevId(index, ctypes.byref(number))
    return number.value if found == 0 else index


@functools.cache
def _card_and_chip(physical: int) -> tuple[int, int]:
    library = _library()
    cards, count = (ctypes.c_int * 64)(), ctypes.c_int()
    library.dcmi_get_card_num_list(ctypes.byref(count), cards, len(cards))
    for card in cards[: count.value]:
        chips = ctypes.c_int()
        library.dcmi_get_device_num_in_card(card, ctypes.byref(chips))
        for chip in range(chips.value):
            logic = ctypes.c_int()
            code = library.dcmi_get_device_logic_id(ctypes.byref(logic), card, chip)
            if code == 0 and logic.value == physical:
                return card, chip
    raise RuntimeError(
        f"libdcmi.so knows no device {physical}: it has {count.value} cards"
        + pta_error(ErrCode.NOT_FOUND)
    )


def _ask(function: str, device: devices.Device, *what: int) -> int:
    card, chip = _card_and_chip(_physical(checked(device, "device")))
    value = ctypes.c_int()
    code = getattr(_library(), function)(card, chip, *what, ctypes.byref(value))
    if code != 0:
        raise RuntimeError(
            f"{function} of libdcmi.so returned {code} for card {card}, chip {chip}"
            + pta_error(ErrCode.INTERNAL)
        )
    return value.value


def utilization(device: devices.Device = None) -> int:
    """The load of a device, by all this user's processes, in percent.

    It is that since an earlier call within two seconds, else that of 20 ms, during which the call waits.

    Args:
        device: an index, a string or a torch.device; None is the current one.

    Raises:
        AssertionError: the device does not exist.
    """
    return _ask("dcmi_get_device_utilization_rate", device, _LOAD_OF_THE_NPU)


def memory_usage(device: devices.Device = None) -> int:
    """The share of a device's memory that all this user's processes hold, in percent.

    torch.cuda.memory_usage is the share of time in which memory is read or written, which no NPU tells.

    Args:
        device: an index, a string or a torch.device; None is the current one.

    Raises:
        AssertionError: the device does not exist.
    """
    return _ask("dcmi_get_device_utilization_rate", device, _SHARE_OF_HBM)


def temperature(device: devices.Device = None) -> int:
    """The temperature of a device in degrees Celsius; modelled on the software NPU.

    Args:
        device: an index, a string or a torch.device; None is the current one.

    Raises:
        AssertionError: the device does not exist.
    """
    return _ask("dcmi_get_device_temperature", device)


def power_draw(device: devices.Device = None) -> int:
    """The power of a device in milliwatts, as torch.cuda.power_draw has it; modelled on the software NPU.

    Args:
        device: an index, a string or a torch.device; None is the current one.

    Raises:
        AssertionError: the device does not exist.
    """
    return 100 * _ask("dcmi_get_device_power_info", device)


def clock_rate(device: devices.Device = None) -> int:
    """The clock of a device's cores in MHz; modelled on the software NPU.

    Args:
        device: an index, a string or a torch.device; None is the current one.

    Raises:
        AssertionError: the device does not exist.
    """
    return _ask("dcmi_get_device_frequency", device, _AICORE_CLOCK)
