"""Launches compiled kernels by their names, with ctypes."""

import ctypes
import numbers
import struct
from pathlib import Path

from .errors import AscendcError

_VERSION = 4
_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_uint64,
)
_INTEGERS = "bBhHiIqQ"
_TYPES = {
    "b": "int8_t",
    "B": "uint8_t",
    "h": "int16_t",
    "H": "uint16_t",
    "i": "int32_t",
    "I": "uint32_t",
    "q": "int64_t",
    "Q": "uint64_t",
    "e": "half",
    "E": "bfloat16_t",
    "f": "float",
    "P": "an address",
}


class _Tiling(ctypes.Structure):
    """softnpu/kernel_entry.h has the meaning of the fields."""

    _fields_ = (
        ("type", ctypes.c_char_p),
        ("bytes", ctypes.c_size_t),
        ("parameter", ctypes.c_uint32),
    )


class _Entry(ctypes.Structure):
    """softnpu/kernel_entry.h has the meaning of the fields."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("line", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("parameters", ctypes.c_char_p),
        ("bytes", ctypes.c_size_t),
        ("launch", _LAUNCH),
        ("tilings", ctypes.POINTER(_Tiling)),
        ("tiling_count", ctypes.c_size_t),
    )


def _bfloat16(value: float) -> int:
    """The bits of the nearest bfloat16, ties to even."""
    (bits,) = struct.unpack("=I", struct.pack("=f", value))
    if value != value:
        return 0x7FC0
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF


class Kernel:
    """A kernel of a compiled library.

    Attributes:
        name: as its author wrote it.
        parameters: one character each, those of the module ``struct``; P is an address, E a bfloat16.
        tilings: by the indices of parameters, the type and the bytes of the structure that every launch reads there.
    """

    def __init__(self, library: ctypes.CDLL, path: Path, name: str) -> None:
        """Looks the kernel up.

        Raises:
            AscendcError: the library has no such kernel, or is of another version.
        """
        try:
            self._entry = _Entry.in_dll(library, f"softnpu_entry_{name}")
        except ValueError:
            raise AscendcError(
                f"{path} has no kernel {name}: kernels are functions with __global__ that are neither templates nor"
                " overloaded"
            ) from None
        if self._entry.version != _VERSION:
            raise AscendcError(
                f"kernel {name} of {path} was compiled with version {self._entry.version} of softnpu's kernel"
                f" library, this is version {_VERSION}: compile it again"
            )
        self.name = name
        self.parameters = self._entry.parameters.decode()
        self.tilings: dict[int, tuple[str, int]] = {}
        for i in range(self._entry.tiling_count):
            tiling = self._entry.tilings[i]
            if tiling.bytes > self.tilings.get(tiling.parameter, ("", 0))[1]:
                self.tilings[tiling.parameter] = (tiling.type.decode(), tiling.bytes)
        self._recent_error = library.aclGetRecentErrMsg
        self._recent_error.restype = ctypes.c_char_p

    def recent_error(self) -> str:
        """Why the calling thread's last launch failed; empty where nothing is known."""
        return (self._recent_error() or b"").decode()

    def pack(self, arguments: tuple[object, ...]) -> bytes:
        """The bytes that the kernel gets: its arguments as members of a C structure.

        Args:
            arguments: an integer for an address, an integer or a bool, a number for a floating type; also NumPy's.

        Raises:
            AscendcError: their number or a type differs from the kernel's, or a number does not fit.
        """
        if len(arguments) != len(self.parameters):
            raise AscendcError(
                f"kernel {self.name} takes {len(self.parameters)} arguments, {len(arguments)} were given"
            )
        if "s" in self.parameters:
            raise AscendcError(
                f"kernel {self.name} takes a structure by value: pass its address, as GM_ADDR, instead"
            )
        values = []
        for i, (code, value) in enumerate(zip(self.parameters, arguments, strict=True)):
            if code in _INTEGERS + "P?" and not isinstance(value, numbers.Integral):
                raise AscendcError(
                    f"kernel {self.name}, argument {i}: an integer is needed, not {type(value).__name__}"
                )
            if not isinstance(value, numbers.Real):
                raise AscendcError(
                    f"kernel {self.name}, argument {i}: a number is needed, not {type(value).__name__}"
                )
            number = int(value) if isinstance(value, numbers.Integral) else float(value)
            try:
                values.append(_bfloat16(number) if code == "E" else number)
            except OverflowError:
                raise self._misfit(i, code, value) from None
        try:
            packed = struct.pack("@" + self.parameters.replace("E", "H"), *values)
        except (struct.error, OverflowError):
            for i, (code, value) in enumerate(zip(self.parameters, values, strict=True)):
                try:
                    struct.pack("@" + code.replace("E", "H"), value)
                except (struct.error, OverflowError):
                    raise self._misfit(i, code, value) from None
            raise
        return packed.ljust(self._entry.bytes, b"\0")

    def _misfit(self, index: int, code: str, value: object) -> AscendcError:
        return AscendcError(
            f"kernel {self.name}, argument {index}: {value} does not fit {_TYPES.get(code, code)}"
        )

    def launch(self, blocks: int, stream: int, *arguments: object, tiling_key: int = 0) -> int:
        """Enqueues the kernel.

        Args:
            blocks: at least 1.
            stream: an ``aclrtStream``; 0 is the default stream.
            arguments: as pack() takes them.
            tiling_key: which variant TILING_KEY_IS takes.

        Returns:
            An aclError.

        Raises:
            AscendcError: as pack() does, or ``blocks`` or ``tiling_key`` is out of range.
        """
        if not 0 < blocks < 1 << 32:
            raise AscendcError(
                f"kernel {self.name} is launched with {blocks} blocks: 1 to 2**32 - 1 are possible"
            )
        if not 0 <= tiling_key < 1 << 64:
            raise AscendcError(
                f"kernel {self.name}: the tiling key {tiling_key} is none of 64 bits without sign"
            )
        address = ctypes.addressof(self._entry)
        return self._entry.launch(address, blocks, stream or None, self.pack(arguments), tiling_key)
