"""The version: that of the torch for which the native part was built, with a local part of its own.

The local part distinguishes it from the official wheel.
"""

from importlib import metadata
from pathlib import Path


def native_folder() -> Path | None:
    """The folder of the native part; None if there is none.

    In a wheel, and in the package of a build folder, that of this file. In a checkout, whose sources may be links, that
    of ``build``, or of the build folder for the torch that is installed.
    """
    file = Path(__file__)
    if _is_native(own := file.absolute().parent):
        return own
    root = file.resolve().parents[1]
    folders = [
        root / "build/python/torch_npu",
        *sorted(root.glob("build-torch-*/python/torch_npu")),
    ]
    built = [folder for folder in folders if _is_native(folder)]
    if len(built) > 1:
        installed = metadata.version("torch").split("+")[0]
        built.sort(key=lambda folder: _torch_of(folder) != installed)
    return built[0] if built else None


def _is_native(folder: Path) -> bool:
    return (folder / "torch_version.txt").exists()


def _torch_of(folder: Path) -> str:
    return (folder / "torch_version.txt").read_text().strip()


_FOLDER = native_folder()
TORCH_VERSION = "2.13.0" if _FOLDER is None else _torch_of(_FOLDER)
__version__ = f"{TORCH_VERSION}+softnpu"
