"""The torch of the interpreter that runs pip, which an isolated build does not see by itself."""

import os
import re
import site
from collections.abc import Iterator
from pathlib import Path

# The versions for which the sources compile, oldest first.
SUPPORTED = ("2.12", "2.13", "2.14", "2.15")
# A folder of packages with torch, for tools whose isolated builds are not of the target's environment (uv).
VARIABLE = "TORCH_NPU_BUILD_TORCH"


class TorchError(RuntimeError):
    """There is no torch to build for; the text is one sentence that says what to do."""


def _folders() -> Iterator[Path]:
    if named := os.environ.get(VARIABLE):
        yield Path(named)
        return
    yield from map(Path, site.getsitepackages())
    if site.ENABLE_USER_SITE is not False:
        yield Path(site.getusersitepackages())


def find() -> tuple[Path, str]:
    """The folder of packages that has torch, and torch's version without its label (``2.14.1``).

    Raises:
        TorchError: there is none, or its version is not supported.
    """
    searched = list(_folders())
    for folder in searched:
        file = folder / "torch" / "version.py"
        if not file.exists():
            continue
        found = re.search(r"__version__ = '([^'+]+)", file.read_text())
        version = found[1] if found else "unknown"
        if ".".join(version.split(".")[:2]) not in SUPPORTED:
            raise TorchError(
                f"torch_npu builds with torch {', '.join(SUPPORTED)}, and {folder} has torch {version}: install another "
                f"torch first (pip install torch=={SUPPORTED[-1]}.*)"
            )
        return folder, version
    raise TorchError(
        f"torch_npu is built for one torch, and there is none in {', '.join(map(str, searched))}: pip install torch, then "
        f"install torch_npu again ({VARIABLE} names a folder that has one elsewhere)"
    )
