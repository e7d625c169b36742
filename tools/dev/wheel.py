"""`./dev wheel`: one self-contained wheel in dist/."""

from dev.paths import PYTHON, ROOT
from dev.run import run, say

DIST = ROOT / "dist"


def wheel() -> None:
    """Builds dist/torch_npu-<version>-….whl."""
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
            ROOT,
        ],
        env={"CCACHE_SLOPPINESS": "pch_defines,time_macros"},
    )
