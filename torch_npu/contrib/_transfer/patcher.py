"""Replaces attributes of modules and classes, and brings the originals back."""

from collections.abc import Callable
from typing import NamedTuple

# What an owner had where it had no attribute of its own, but perhaps inherited one.
MISSING = object()


class Change(NamedTuple):
    """One replaced attribute: ``owner.__dict__[name]`` was ``original`` (or :data:`MISSING`)."""

    owner: object
    name: str
    original: object
    replacement: object


class Patcher:
    """A stack of changes. Not thread-safe: changes are process-wide, like imports."""

    def __init__(self) -> None:
        """Nothing is changed yet."""
        self._undo: list[Callable[[], None]] = []
        self.changes: list[Change] = []

    def replace(self, owner: object, name: str, replacement: object) -> None:
        """Sets ``owner.name``, and remembers the object that ``owner`` itself had there."""
        original = vars(owner).get(name, MISSING)
        setattr(owner, name, replacement)
        self.changes.append(Change(owner, name, original, replacement))

        def put_back() -> None:
            if original is MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)

        self._undo.append(put_back)

    def switch(self, on: Callable[[], None], off: Callable[[], None]) -> None:
        """Calls ``on`` now, and ``off`` when the changes are undone."""
        on()
        self._undo.append(off)

    def restore(self) -> None:
        """Undoes every change, the last one first."""
        while self._undo:
            self._undo.pop()()
        self.changes.clear()


# The changes of this process; here, so that they outlast a reload of ``transfer_to_npu``.
PATCHER = Patcher()
