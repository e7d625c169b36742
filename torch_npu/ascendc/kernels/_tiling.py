"""Tiling structures of the host, by the names of their fields."""

import ctypes
import re
from pathlib import Path

_FIELD = re.compile(r"TILING_DATA_FIELD_DEF\((\w+), (\w+)\)")
_TYPES = {
    "uint32_t": ctypes.c_uint32,
    "int32_t": ctypes.c_int32,
    "uint64_t": ctypes.c_uint64,
    "int64_t": ctypes.c_int64,
    "float": ctypes.c_float,
}


class Tiling:
    """The structure that a header with BEGIN_TILING_DATA_DEF describes: numbers, placed as in C."""

    def __init__(self, header: Path) -> None:
        """Reads the fields of ``header``."""
        self.names = []
        fields = []
        for found in _FIELD.finditer(header.read_text()):
            fields.append((found[2], _TYPES[found[1]]))
            self.names.append(found[2])
        self._structure = type(header.stem, (ctypes.Structure,), {"_fields_": fields})

    def pack(self, **values: float) -> bytes:
        """The bytes that GET_TILING_DATA reads.

        Args:
            values: all fields by their names.

        Raises:
            TypeError: a field is missing, or there is none of a name.
            OverflowError: a number does not fit its field.
        """
        if set(values) != set(self.names):
            raise TypeError(f"the fields are {', '.join(self.names)}, not {', '.join(values)}")
        structure = self._structure(**values)
        for name, value in values.items():  # ctypes keeps the low bits alone
            if isinstance(value, int) and getattr(structure, name) != value:
                raise OverflowError(f"{name} is {value}, which its field of the tiling cannot have")
        return bytes(structure)
