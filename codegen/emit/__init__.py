"""Writers of generated files. Each returns {file name: text}; the same model gives the same text."""

import zlib

from softnpu.opgen.lines import BACK


def share(name: str, files: int) -> int:
    """Which of ``files`` files has the operator ``name``: a new operator leaves all others in theirs."""
    return zlib.crc32(name.encode()) % files


def in_entry(operator: str, line: int, text: str) -> list[str]:
    """``text``, in which errors name the entry of ``operator`` and a line of it.

    A line of the YAML would change with each entry above, and most files would be compiled anew.
    """
    return [f'#line {line} "npu_native_functions.yaml, {operator}"', text, BACK]
