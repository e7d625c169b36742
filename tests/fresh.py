"""Programs in a separate interpreter: behaviour at import, at exit, after fork or with other variables."""

import os
import subprocess
import sys


def _prelude() -> str:
    """Breaks the name that ./dev api --break is at, in the program as in the test."""
    if not (name := os.environ.get("TORCH_NPU_API_BREAK")):
        return ""
    return f"import torch_npu\nfrom dev.api.breaking import break_name\nbreak_name({name!r})\n"


def run(
    code: str, *arguments: str, cwd: str | None = None, timeout: float = 120, **env: str
) -> subprocess.CompletedProcess:
    """Runs ``code`` with ``env`` added to the environment; the result has returncode, stdout and stderr as text."""
    if prelude := _prelude():
        env = {"PYTHONPATH": os.pathsep.join(sys.path), **env}
    return subprocess.run(
        [sys.executable, "-c", prelude + code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        cwd=cwd,
        env={**os.environ, **env},
    )


def output(code: str, *arguments: str, **options) -> str:
    """The output of ``code``, which must succeed."""
    result = run(code, *arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
