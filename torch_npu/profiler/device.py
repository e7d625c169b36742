"""The device's half of a profile: ``aclprof*`` of the bound CANN, and its program ``msprof``."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

from torch_npu import npu, softnpu
from torch_npu.profiler.config import _ExperimentalConfig

_RUNTIME = "libascendcl.so"  # loaded already: found by its name


class ProfilerError(RuntimeError):
    """A call of CANN's profiler failed; the text says which, and what CANN says."""


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(_RUNTIME)
    library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    library.aclprofCreateConfig.restype = ctypes.c_void_p
    library.aclprofCreateConfig.argtypes = [
        ctypes.POINTER(ctypes.c_uint32),
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_uint64,
    ]
    library.aclprofInit.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    for name in ("aclprofStart", "aclprofStop", "aclprofDestroyConfig"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    return library


class DeviceProfile:
    """One profile, in a folder PROF_* below the folder of the run."""

    def __init__(self, run: Path, config: _ExperimentalConfig) -> None:
        """Makes the folder.

        Raises:
            ProfilerError: another profile of this process goes on, or the folder cannot be written.
        """
        self._library = _library()
        self._config: int | None = None
        path = str(run).encode()
        self._check("aclprofInit", self._library.aclprofInit(path, len(path)))
        devices = (ctypes.c_uint32 * 1)(npu.current_device())
        self._config = self._library.aclprofCreateConfig(
            devices, 1, config.metrics_value, None, config.data
        )
        if self._config is None:
            self._library.aclprofFinalize()
            self._check("aclprofCreateConfig", 1)

    def _check(self, function: str, code: int) -> None:
        if code != 0:
            message = self._library.aclGetRecentErrMsg()
            raise ProfilerError(
                message.decode() if message else f"{function} failed with the code {code}"
            )

    def start(self) -> None:
        """Begins to record."""
        self._check("aclprofStart", self._library.aclprofStart(self._config))

    def stop(self) -> None:
        """Ends the recording and the profile."""
        code = self._library.aclprofStop(self._config)
        self._library.aclprofDestroyConfig(self._config)
        self._library.aclprofFinalize()
        self._check("aclprofStop", code)

    def abandon(self) -> None:
        """Ends a profile that was not started."""
        self._library.aclprofDestroyConfig(self._config)
        self._library.aclprofFinalize()


def _msprof() -> list[str]:
    found = shutil.which("msprof")
    if found is not None:
        return [found]
    program = softnpu.lib_dir().parents[1] / "cann" / "tools" / "profiler" / "profiler_tool"
    return [sys.executable, str(program / "analysis" / "msprof" / "msprof.py")]


def export(run: Path) -> Path | None:
    """Lets msprof write the files of the folder PROF_* in ``run``; returns it, or None if there is none.

    Raises:
        ProfilerError: msprof fails.
    """
    folders = sorted(run.glob("PROF_*"))
    if not folders:
        return None
    for action in ("--export=on", "--analyze=on"):
        done = subprocess.run(
            [*_msprof(), action, f"--output={folders[0]}"], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise ProfilerError(done.stderr.strip() or f"msprof {action} failed")
    return folders[0]
