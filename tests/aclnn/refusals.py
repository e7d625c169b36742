"""Calls that an operator rejects, as rows of (operator, arguments, code, part of the message)."""

from collections.abc import Callable, Sequence

import pytest

from tests.aclnn.library import AclnnError, Library


def refusals(rows: Sequence[tuple]) -> pytest.MarkDecorator:
    """Parametrizes a test with arguments for :func:`check_refused`."""
    names = ("operator", "arguments", "code", "message")
    return pytest.mark.parametrize(names, rows, ids=lambda v: v if isinstance(v, str) else "")


def check_refused(
    library: Library,
    operator: str,
    arguments: tuple | Callable[[], tuple],
    code: int,
    message: str,
) -> None:
    """The call fails with ``code`` and a message that matches the regular expression ``message``."""
    given = arguments() if callable(arguments) else arguments
    with pytest.raises(AclnnError, match=message) as refused:
        library.call(operator, *given)
    assert refused.value.code == code
