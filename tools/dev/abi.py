"""`./dev abi`: docs/acl.md from the tables of CANN's C ABI."""

import sys

from dev.run import run


def abi() -> None:
    """Writes docs/acl.md; needs only Python."""
    run(
        [sys.executable, "-m", "softnpu.abi.document"],
        hint="the line above names what is wrong in the table",
    )
