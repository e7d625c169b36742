"""``ascendc new NAME``: a project with a kernel, to begin with."""

import keyword
import re
from pathlib import Path

from .errors import AscendcError

_TEMPLATE = Path(__file__).with_name("template")
# Those that C++ has and Python has not; a kernel's name is a function's.
_CPP = """
    auto bool case catch char concept const default delete do double enum explicit export extern false float friend
    goto inline int long mutable namespace new operator private protected public register requires short signed sizeof
    static struct switch template this throw true typedef typename union unsigned using virtual void volatile
    half main torch torch_npu pytest
"""


def create(folder: Path) -> list[Path]:
    """Writes the project of the kernel that is named like ``folder``: kernel, tiling, binding, test, CMake program.

    Returns:
        What was written, in alphabetical order.

    Raises:
        AscendcError: the name is none for a kernel, or the folder has files.
    """
    name = folder.name
    if (
        not re.fullmatch(r"[a-z][a-z0-9_]*", name)
        or keyword.iskeyword(name)
        or name in _CPP.split()
    ):
        raise AscendcError(
            f"'{name}' is no name for a kernel: small letters, digits and _, and no word of C++ or Python"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AscendcError(f"{folder} is there already and is not empty: name another folder")
    title = "".join(part.capitalize() for part in name.split("_"))
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for source in sorted(_TEMPLATE.glob("*.in")):
        target = folder / source.stem.replace("new_kernel", name)
        text = source.read_text(encoding="utf-8")
        target.write_text(
            text.replace("new_kernel", name).replace("NewKernel", title), encoding="utf-8"
        )
        written.append(target)
    return sorted(written)


def command(arguments: list[str]) -> int:
    """``ascendc new NAME``: creates the project and says how to go on."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        raise AscendcError("ascendc new NAME: one name, which is the folder's and the kernel's")
    folder = Path(arguments[0])
    for path in create(folder):
        print(path)
    print(f"now: cd {folder} && python -m pytest")
    return 0
