"""The version: that of the supported torch, with a local part that distinguishes it from the official wheel."""

__version__ = "2.13.0+softnpu"
TORCH_VERSION = "2.13.0"
