"""`./dev wheel`: one self-contained wheel in dist/."""

import tempfile
import zipfile
from pathlib import Path

from dev.build import build
from dev.paths import BUILD, PYTHON, ROOT
from dev.platform_tag import platform_tag
from dev.run import run, say

DIST = ROOT / "dist"


def wheel_tag(result: Path) -> str:
    """The platform tag for the libraries in the wheel ``result``."""
    with zipfile.ZipFile(result) as file, tempfile.TemporaryDirectory() as folder:
        names = [name for name in file.namelist() if ".so" in Path(name).name]
        return platform_tag([Path(file.extract(name, folder)) for name in names])


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
