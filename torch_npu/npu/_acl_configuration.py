"""``TORCH_ACL_INIT_CONFIG_PATH``: the JSON file for CANN's initialisation, checked as the official plug-in does.

The texts are those that its tests and programs look for.
"""

import json
from pathlib import Path
from typing import NamedTuple

from torch_npu._core import environment, state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu._core.warnings import warn

_VARIABLE = "TORCH_ACL_INIT_CONFIG_PATH"
# From this CANN on the runtime takes its first device from the file.
_LAZY_SINCE = (8, 3)
_DEFAULT = '"defaultDevice": {"default_device": "0"}'


class Configuration(NamedTuple):
    """The file for aclInit, or why it cannot be used; both empty without a file."""

    file: str = ""
    error: str = ""
    ignored: tuple[str, ...] = ()  # its entries that have no effect


def _default_device_error(path: str, entries: object, *, is_lazy: bool) -> str:
    given = entries.get("defaultDevice") if isinstance(entries, dict) else None
    if not is_lazy:
        if given is None:
            return ""
        return f"User acl json {path} contains 'defaultDevice', which this CANN does not take: remove it."
    if not isinstance(given, dict):
        return f"User acl json {path} lacks 'defaultDevice' object. Please add: {_DEFAULT}"
    if given.get("default_device") != "0":
        return (
            f"User acl json {path} requires 'defaultDevice.default_device' to be \"0\". "
            f"Please set: {_DEFAULT}"
        )
    return ""


def check(given: str, *, is_lazy: bool) -> Configuration:
    """Reads the file ``given``; ``is_lazy``: the CANN takes its first device from it."""
    path = Path(given)
    if not path.exists():
        text = f"{_VARIABLE} {given} is invalid: there is no such file. Set it to the path of a JSON file."
        return Configuration(error=text + pta_error(ErrCode.UNAVAIL))
    full = str(path.resolve())
    try:
        entries = json.loads(path.read_text())
    except OSError as error:
        text = f"Failed to open user acl json {full}: {error.strerror}."
        return Configuration(error=text + pta_error(ErrCode.UNAVAIL))
    except ValueError as error:
        text = f"Failed to parse user acl json {full}. Error: {error}"
        return Configuration(error=text + pta_error(ErrCode.UNAVAIL))
    if text := _default_device_error(full, entries, is_lazy=is_lazy):
        return Configuration(error=text + pta_error(ErrCode.VALUE))
    return Configuration(full, ignored=tuple(k for k in entries if k != "defaultDevice"))


def _is_lazy() -> bool:
    major, minor = state.native().cann_version().split(".")[:2]
    return (int(major), int(minor)) >= _LAZY_SINCE


def apply() -> None:
    """Checks the variable's file at import; what is wrong with it is raised when the device is first used."""
    given = environment.text("TORCH_ACL_INIT_CONFIG_PATH")
    if not given:
        return
    found = check(given, is_lazy=_is_lazy())
    if found.ignored and state.native().softnpu_version():
        names = ", ".join(found.ignored)
        warn(f"{_VARIABLE}: {names} of {found.file} has no effect on a software NPU")
    state.native().set_configuration(found.file, found.error)
