"""Programs in a separate interpreter: behaviour at import, at exit, after fork or with other variables."""

import os
import subprocess
import sys


def run(
    code: str, *arguments: str, cwd: str | None = None, timeout: float = 120, **env: str
) -> subprocess.CompletedProcess:
    """Runs ``code`` with ``env`` added to the environment; the result has returncode, stdout and stderr as text."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
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
