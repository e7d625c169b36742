"""Where the installation has what kernels are compiled with."""

import os
from dataclasses import dataclass
from pathlib import Path

from .errors import AscendcError


@dataclass(frozen=True)
class Installation:
    """Folders of headers and libraries, all absolute.

    Attributes:
        kernel_headers: has ``kernel_operator.h``.
        acl_headers: has ``acl/acl.h``.
        libraries: has ``libsoftnpu_kernel.so``.
        cann: has ``libascendcl.so``.
    """

    kernel_headers: Path
    acl_headers: Path
    libraries: Path
    cann: Path


def installation() -> Installation:
    """The installation that this module is of: the package, in a checkout that of the build folder.

    ``SOFTNPU_PACKAGE`` names another one: a build that compiles kernels before it is complete.

    Raises:
        AscendcError: a part is missing.
    """
    package = Path(os.path.abspath(__file__)).parents[1]
    source = Path(__file__).resolve().parents[1]
    named = os.environ.get("SOFTNPU_PACKAGE")
    build = source.parent / "build" / "python" / "torch_npu"
    for folder in (Path(named),) if named else (package, build):
        libraries = folder / "lib"
        if (libraries / "libsoftnpu_kernel.so").exists():
            found = Installation(
                folder / "cann" / "ascendc" / "include",
                folder / "cann" / "include",
                libraries,
                libraries / "cann",
            )
            if not (found.kernel_headers / "kernel_operator.h").exists():
                raise AscendcError(
                    f"{found.kernel_headers} has no kernel_operator.h: in a checkout, run ./dev build"
                )
            return found
    raise AscendcError(
        f"libsoftnpu_kernel.so is not beside {package}: in a checkout, run ./dev build"
    )
