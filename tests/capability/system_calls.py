"""Runs a program under a kernel that refuses some system calls, as containers and old kernels do.

In tests/: python capability/system_calls.py memfd_create|madvise PROGRAM ...
"""

import ctypes
import errno
import os
import platform
import struct
import sys

# linux/seccomp.h, linux/filter.h, linux/prctl.h
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _THIRD_ARGUMENT = 0, 32  # offsets in seccomp_data
_MADV_COLLAPSE = 25
_NUMBERS = {
    "x86_64": {"memfd_create": 319, "madvise": 28},
    "aarch64": {"memfd_create": 279, "madvise": 233},
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def refuse(name: str) -> None:
    """From now on the call fails in this process: memfd_create with ENOSYS, madvise(MADV_COLLAPSE) with EINVAL."""
    number = _NUMBERS[platform.machine()][name]
    rules = [_instruction(_LOAD, _NUMBER)]
    if name == "madvise":
        rules += [
            _instruction(_EQUAL, number, 0, 3),
            _instruction(_LOAD, _THIRD_ARGUMENT),
            _instruction(_EQUAL, _MADV_COLLAPSE, 0, 1),
            _instruction(_RETURN, _ERRNO | errno.EINVAL),
        ]
    else:
        rules += [_instruction(_EQUAL, number, 0, 1), _instruction(_RETURN, _ERRNO | errno.ENOSYS)]
    rules.append(_instruction(_RETURN, _ALLOW))
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(rules), b"".join(rules))
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    refuse(sys.argv[1])
    os.execv(sys.argv[2], sys.argv[2:])
