"""Dumps of operators: the tensors that they read and write as files, in the form of CANN's dumps.

:func:`init_dump`, then :func:`set_dump` with a configuration, then the operators, then :func:`finalize_dump`. Each run of
an operator becomes a file ``<dump_path>/<type>.<name>.<task>.<stream>.<microseconds>``; ``msprobe parse`` reads it with
``libascend_dump_parser.so``. The runtime writes them, of all threads: operators that have no aclnn function and run on the
AI CPU are not among them.
"""

import ctypes
import json
import os
from pathlib import Path

from torch_npu._core import state
from torch_npu._core.errors import ErrCode, pta_error

_MODES = ("all", "input", "output")
_is_initialized = False


def _call(name: str, *arguments: bytes) -> None:
    """Calls a function of the runtime.

    Raises:
        RuntimeError: it fails; the text is the runtime's.
    """
    runtime = ctypes.CDLL("libascendcl.so")
    runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
    if (code := getattr(runtime, name)(*arguments)) != 0:
        reason = runtime.aclGetRecentErrMsg() or b"no reason is given"
        raise RuntimeError(
            f"{name} failed ({code}): {reason.decode()}" + pta_error(ErrCode.INTERNAL)
        )


def _wait() -> None:
    if state.native().is_initialized():
        for device in range(state.native().device_count()):
            state.native().synchronize(device)


def init_dump() -> None:
    """Prepares to dump. The configuration of :func:`set_dump` starts it."""
    global _is_initialized
    _call("aclmdlInitDump")
    _is_initialized = True


def _check(cfg_file: str) -> None:
    try:
        content = json.loads(Path(cfg_file).read_text())
        config = content["dump"]
        Path(config["dump_path"])
        mode = config.get("dump_mode", "output")
        for model in config.get("dump_list", ()):
            list(model.get("layer", ()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f'set_dump: {cfg_file} is no configuration: {error!r}. It is JSON like {{"dump": {{"dump_path": "/tmp/d", '
            '"dump_mode": "all"}}' + pta_error(ErrCode.PARAM)
        ) from None
    if mode not in _MODES:
        raise ValueError(
            f"set_dump: dump_mode of {cfg_file} is one of {', '.join(_MODES)}, not {mode!r}"
            + pta_error(ErrCode.PARAM)
        )


def set_dump(cfg_file: str) -> None:
    """Starts to dump as a file says; replaces the earlier configuration.

    Args:
        cfg_file: JSON with an object ``dump``: ``dump_path``, a folder, made if missing; ``dump_mode``, ``"input"``,
            ``"output"`` (the default) or ``"all"``; ``dump_list``, a list of objects whose lists ``layer`` have names of
            operators (``"Add"`` or ``"aclnnAdd"``), or empty for all.

    Raises:
        AssertionError: there is no such file.
        RuntimeError: :func:`init_dump` was not called.
        ValueError: the file is no configuration.
    """
    if not os.path.exists(cfg_file):
        raise AssertionError(
            f"cfg_file {cfg_file} path does not exists." + pta_error(ErrCode.NOT_FOUND)
        )
    if not _is_initialized:
        raise RuntimeError("set_dump: call torch.npu.init_dump() first" + pta_error(ErrCode.PARAM))
    path = os.path.realpath(cfg_file)
    _check(path)
    _wait()
    _call("aclmdlSetDump", os.fsencode(path))


def finalize_dump() -> None:
    """Ends the dump. All files are complete when it returns."""
    global _is_initialized
    _wait()
    _call("aclmdlFinalizeDump")
    _is_initialized = False
