"""The tables of this folder name every kernel, and only lines that exist."""

from .calls import CALLS
from .needless import NEEDLESS
from .test_checks import KERNELS, LINES


def test_every_kernel_is_called_here():
    assert set(CALLS) == {folder.parent.name for folder in KERNELS.glob("*/*.asc")}


def test_what_is_needless_exists():
    known = {(file, text) for _, file, _, text in LINES}
    assert {(file, text) for file, texts in NEEDLESS.items() for text in texts} <= known
