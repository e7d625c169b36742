"""The files of the checkout, and the changed ones."""

import subprocess
from pathlib import Path

from dev.paths import ROOT
from dev.run import DevError


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise DevError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def tracked(*patterns: str) -> list[Path]:
    """The files that match ``patterns``: those in the index and new ones."""
    listed = _git("ls-files", "-co", "--exclude-standard", "--", *patterns)
    return [ROOT / line for line in listed if (ROOT / line).is_file()]


def commit_count() -> int:
    """The number of commits up to HEAD, which selects the rotating parts; 0 without a history."""
    try:
        return int(_git("rev-list", "--count", "HEAD")[0])
    except DevError:
        return 0


def changed_since(revision: str) -> list[str]:
    """Paths, relative to the checkout, that differ from ``revision``: committed, uncommitted, new, deleted."""
    found = _git("diff", "--name-only", "--no-renames", revision)
    return sorted({*found, *_git("ls-files", "-o", "--exclude-standard")})


def changed() -> tuple[str, list[str]]:
    """The name of the change, and its paths: uncommitted changes, else the last commit."""
    paths = changed_since("HEAD")
    if paths:
        return "uncommitted changes", paths
    return "the last commit", changed_since("HEAD~1")


def recently_changed(commits: int) -> set[str]:
    """Paths that the last ``commits`` commits, or uncommitted changes, changed."""
    reach = min(commits, commit_count() - 1)
    return set(changed_since(f"HEAD~{reach}")) if reach > 0 else set()
