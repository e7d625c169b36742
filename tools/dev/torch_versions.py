"""`./dev test --torch V`: the plug-in compiled for another torch, and the tests that show that it works there.

softnpu is that of build/. Only 2.13.0 has CPU wheels on every index: the environments of the others take 6 to 8 GB, so
that there is one at a time.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from dev.build import build, ccache, link_package, program
from dev.paths import BUILD, ROOT
from dev.run import DevError, output, run, say
from dev.setup import MODELS, remove_stray_tests
from dev.side_venv import make_side_venv

# What CI builds and tests is the first one.
VERSIONS = ("2.13.0", "2.12.1", "2.14.1", "2.15.0")
GB = 10**9
NEEDED = 12 * GB
# The parts that a version has to pass: features, networks, torch.compile, collectives, and operators in float32.
TESTS = ("tests/capability", "tests/models", "tests/compile", "tests/distributed")
# Packages of .venv that tests use and whose versions do not depend on torch.
_NOT_NEEDED = (
    "check-jsonschema",
    "clang-format",
    "import-linter",
    "mypy",
    "pybind11-stubgen",
    "ruff",
    "scikit-build-core",
)


def _requirements() -> list[str]:
    lines = (ROOT / "tools" / "requirements.txt").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith("#")]
    return [line for line in wanted if line.split("==")[0] not in _NOT_NEEDED]


def _make_venv(version: str) -> Path:
    venv = ROOT / f".venv-torch-{version}"
    for other in ROOT.glob(".venv-torch-*"):
        if other != venv:
            say(f"removes {other.name}: there is one environment of another torch at a time")
            shutil.rmtree(other)
    free = shutil.disk_usage(ROOT).free
    if not (venv / "ready").exists() and free < NEEDED:
        raise DevError(
            f"torch {version} and its packages take up to {NEEDED // GB} GB, and {free / GB:.1f} GB are free"
        )
    make_side_venv(venv, [f"torch=={version}", *_requirements()], [])
    # As in .venv: their metadata require packages that must not be installed.
    pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet"]
    run([*pip, "--no-deps", "--requirement", MODELS])
    remove_stray_tests(venv)
    return venv


def build_for(version: str) -> tuple[Path, Path]:
    """Builds the plug-in for torch ``version``; returns the interpreter that sees it, and the build folder.

    Raises:
        DevError: another version than those of VERSIONS, too little space, or a build that fails.
    """
    if version not in VERSIONS:
        raise DevError(f"torch {version} is none of {', '.join(VERSIONS)}")
    build()
    python = _make_venv(version) / "bin" / "python"
    folder = BUILD.with_name(f"build-torch-{version}")
    say(f"plug-in for torch {version} in {folder.name}/")
    options = [f"-DPython3_EXECUTABLE={python}", f"-DTORCH_NPU_BUILT_SOFTNPU={BUILD}"]
    run(
        [
            program("cmake"),
            "-S",
            ROOT,
            "-B",
            folder,
            "-G",
            "Ninja",
            "-DTORCH_NPU_TESTS=OFF",
            *options,
        ]
    )
    run([program("ninja"), "-C", folder], env=ccache())
    link_package(folder / "python", python)
    return python, folder


def compat_lines() -> int:
    """The lines in which the versions differ: csrc/compat and torch_npu/_compat.py."""
    files = [
        *(ROOT / "torch_npu" / "csrc" / "compat").glob("*.h"),
        ROOT / "torch_npu" / "_compat.py",
    ]
    return sum(len(file.read_text().splitlines()) for file in files)


def run_tests(version: str, paths: Sequence[str], options: Sequence[str] = ()) -> None:
    """Builds for torch ``version`` and runs ``paths``, by default those that a version has to pass.

    Raises:
        DevError: the build or a test fails.
    """
    python, _ = build_for(version)
    say(
        f"{output([python, '-c', 'import torch; print(torch.__version__)']).strip()}; lines of compat: {compat_lines()}"
    )
    run(
        [
            python,
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            "--dist",
            "worksteal",
            *(paths or TESTS),
            *options,
        ],
        env={"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )
