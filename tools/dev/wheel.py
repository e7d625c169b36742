"""`./dev wheel`: one self-contained wheel in dist/."""

import json
from pathlib import Path

from dev.build import build
from dev.paths import BUILD, PYTHON, ROOT, VENV
from dev.run import DevError, output, run, say

DIST = ROOT / "dist"
# What the wheel needs and torch's wheel has.
PYTORCH_LIBRARIES = ("libtorch", "libc10", "libshm", "libgomp")


def wheel_tag(result: Path) -> str:
    """The platform tag of the oldest systems that have what the libraries of the wheel ``result`` need.

    auditwheel's policies know the versions of glibc and libstdc++ of each system. The wheel does not have torch's libraries, so
    that the tag is that of the symbols.

    Raises DevError if there is none, or if a library is neither in the wheel, nor torch's, nor the system's.
    """
    printed = output([VENV / "bin" / "auditwheel", "show", "--json", result])
    found = json.loads(printed or '{"error": "it has no library that can be read"}')
    tag = found.get("sym_tag", "")
    if not tag.startswith("manylinux_"):
        reason = found.get("error") or f"no policy has {found.get('versioned_symbols')}"
        raise DevError(f"auditwheel finds no tag for {result.name}: {reason}")
    strangers = [name for name in found["external_libs"] if not name.startswith(PYTORCH_LIBRARIES)]
    if strangers:
        raise DevError(f"{result.name} needs {', '.join(strangers)}, which it does not have")
    return tag


def wheel() -> None:
    """Builds dist/torch_npu-<version>-….whl from the output of `./dev build`."""
    build()
    say("wheel")
    for old in DIST.glob("torch_npu-*.whl"):
        old.unlink()
    run(
        [
            PYTHON,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-build-isolation",
            "--no-deps",
            "-w",
            DIST,
            f"--config-settings=cmake.define.TORCH_NPU_BUILT={BUILD}",  # -C needs pip 23.1
            ROOT,
        ],
    )
    (result,) = DIST.glob("torch_npu-*.whl")
    tag = wheel_tag(result)
    run([PYTHON, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, result])
