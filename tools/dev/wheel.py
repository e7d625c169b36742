"""`./dev wheel`: one self-contained wheel in dist/."""

from dev.build import build
from dev.paths import BUILD, PYTHON, ROOT
from dev.run import run, say

DIST = ROOT / "dist"
# What the libraries' symbols need (glibc 2.34, the libstdc++ of GCC 12), as packaging tools say it.
PLATFORM = "manylinux_2_35_x86_64"


def wheel() -> None:
    """Builds dist/torch_npu-<version>-….whl out of what `./dev build` makes."""
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
            f"-Ccmake.define.TORCH_NPU_BUILT={BUILD}",
            ROOT,
        ],
    )
    (made,) = DIST.glob("torch_npu-*.whl")
    retag = [PYTHON, "-m", "wheel", "tags", "--remove", "--platform-tag", PLATFORM, made]
    if "x86_64" in made.name:
        run(retag)
