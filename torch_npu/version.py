"""The version: torch's, which this build serves, and a local part that tells it from the official wheel."""

__version__ = "2.13.0+softnpu"
TORCH_VERSION = "2.13.0"
