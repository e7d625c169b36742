"""`./dev wheel`: one self-contained wheel in dist/."""

from dev.paths import PYTHON, ROOT
from dev.run import run, say


def wheel() -> None:
    """Builds dist/torch_npu-<version>-….whl."""
    say("wheel")
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
            ROOT / "dist",
            ROOT,
        ],
        env={"CCACHE_SLOPPINESS": "pch_defines,time_macros"},
    )
