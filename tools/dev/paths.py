"""Paths in a checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
BUILD = ROOT / "build"
PACKAGE_ROOT = BUILD / "python"
