"""Writers of generated files. Each returns {file name: text}; the same model gives the same text."""

import zlib
from collections.abc import Sequence

from softnpu.opgen.lines import BACK


def share(name: str, files: int) -> int:
    """Which of ``files`` files has the operator ``name``: a new operator leaves all others in theirs."""
    return zlib.crc32(name.encode()) % files


def registered(operator: str, kernel: str, written_lists: Sequence[int]) -> str:
    """The line that registers the C++ function ``kernel``, which writes those of its arguments that are lists."""
    if written_lists:
        kernel = f"RaisesVersions<&{kernel}, {', '.join(map(str, written_lists))}>::call"
    return f'  m.impl("{operator}", &{kernel});\n'


def in_entry(operator: str, line: int, text: str) -> list[str]:
    """``text``, in which errors name the entry of ``operator`` and a line of it.

    A line of the YAML would change with each entry above, and most files would be compiled anew.
    """
    return [f'#line {line} "npu_native_functions.yaml, {operator}"', text, BACK]
