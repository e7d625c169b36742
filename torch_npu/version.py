"""The version: that of the torch for which the native part was built, with a local part of its own.

The local part distinguishes it from the official wheel.
"""

from pathlib import Path


def _built_for() -> str:
    # In a wheel beside this file; in a checkout, whose sources may be links, in the build folder.
    file = Path(__file__)
    built = (file.absolute().parent, file.resolve().parents[1] / "build/python/torch_npu")
    texts = [folder / "torch_version.txt" for folder in built]
    return next((text.read_text().strip() for text in texts if text.exists()), "2.13.0")


TORCH_VERSION = _built_for()
__version__ = f"{TORCH_VERSION}+softnpu"
