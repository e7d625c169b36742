"""Limits of the cores that a device or a stream uses."""

import torch

from torch_npu._core import state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu.npu.device import device_count
from torch_npu.npu.streams import Stream

_KINDS = {"cube_core_num": 0, "vector_core_num": 1}
_limited = False


def _checked_device(index: int) -> int:
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(
            f"device must be an int, but got {type(index).__name__}" + pta_error(ErrCode.TYPE)
        )
    if not 0 <= index < device_count():
        raise AssertionError("Invalid device id")
    return index


def _checked_stream(stream: Stream) -> tuple[int, int]:
    if stream is None:
        raise AssertionError("stream cannot be None")
    if not isinstance(stream, torch.Stream) or stream.device.type != "npu":
        raise AssertionError(f"stream should be torch_npu.npu.Stream, could not be {type(stream)}")
    return stream.device_index, stream.stream_id


def _given(cube_num: int, vector_num: int) -> list[tuple[int, int]]:
    """The (kind, number) pairs that are not -1."""
    given = [(kind, n) for kind, n in enumerate((cube_num, vector_num)) if n != -1]
    for _, number in given:
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(
                f"a number of cores must be an int, not {type(number).__name__}"
                + pta_error(ErrCode.TYPE)
            )
        if number < 1:
            raise RuntimeError(f"a number of cores must be at least 1, or -1 for all, not {number}")
    return given


def set_device_limit(device: int, cube_num: int = -1, vector_num: int = -1) -> None:
    """Limits the cores that ``device`` uses; -1 changes nothing. Can be called once.

    Raises:
        TypeError: an argument is not an int.
        AssertionError: ``device`` does not exist.
        RuntimeError: the device has fewer cores, or the limit was set already.
    """
    global _limited
    index, given = _checked_device(device), _given(cube_num, vector_num)
    if _limited:
        raise RuntimeError(
            "Function 'set_device_limit' has already been called, You can only set this interface once."
        )
    for kind, number in given:
        state.native().set_device_limit(index, kind, number)
    _limited = True


def get_device_limit(device: int) -> dict[str, int]:
    """The cores that ``device`` uses: ``cube_core_num`` and ``vector_core_num``.

    Raises:
        TypeError: ``device`` is not an int.
        AssertionError: it does not exist.
    """
    index = _checked_device(device)
    return {name: int(state.native().device_limit(index, kind)) for name, kind in _KINDS.items()}


def set_stream_limit(stream: Stream, cube_num: int = -1, vector_num: int = -1) -> None:
    """Limits the cores that ``stream`` uses; -1 changes nothing.

    Raises:
        TypeError: a number is not an int.
        AssertionError: ``stream`` is no npu stream.
        RuntimeError: the device has fewer cores.
    """
    at = _checked_stream(stream)
    for kind, number in _given(cube_num, vector_num):
        state.native().set_stream_limit(*at, kind, number)


def reset_stream_limit(stream: Stream) -> None:
    """Removes the limits of ``stream``: those of its device apply.

    Raises:
        AssertionError: ``stream`` is no npu stream.
    """
    state.native().reset_stream_limit(*_checked_stream(stream))


def get_stream_limit(stream: Stream) -> dict[str, int]:
    """The cores that ``stream`` uses: ``cube_core_num`` and ``vector_core_num``.

    Raises:
        AssertionError: ``stream`` is no npu stream.
    """
    at = _checked_stream(stream)
    return {name: int(state.native().stream_limit(*at, kind)) for name, kind in _KINDS.items()}
