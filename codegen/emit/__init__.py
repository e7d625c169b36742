"""Writers of generated files. Each returns {file name: text}; the same model gives the same text."""

import zlib


def share(name: str, files: int) -> int:
    """Which of ``files`` files has the operator ``name``: a new operator leaves all others in theirs."""
    return zlib.crc32(name.encode()) % files
