"""Whether a native library is whole: a copy that was interrupted would end the process by SIGBUS when it is loaded."""

from pathlib import Path

# ELF64, gABI "ELF Header": e_shoff at 40 of 8 bytes, e_shentsize at 58 and e_shnum at 60 of 2 bytes.
_HEADER_BYTES = 64
_MAGIC = b"\x7fELF"


def is_whole(path: Path) -> bool:
    """Whether ``path`` is an ELF file as long as its header says; the table of sections is the last part of a file.

    Raises:
        OSError: there is no such file, or it cannot be read.
    """
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        return False
    offset, size, count = (
        int.from_bytes(header[start:end], "little") for start, end in ((40, 48), (58, 60), (60, 62))
    )
    return offset + size * count <= path.stat().st_size
