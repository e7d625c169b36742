"""`./dev build`: runs CMake and Ninja in build/ and assembles the Python package build/python/torch_npu."""

import os
import re
import subprocess
from pathlib import Path

from dev.paths import BUILD, PACKAGE_ROOT, PYTHON, ROOT, VENV
from dev.run import DevError, output, run, say

SOURCE = ROOT / "torch_npu"
# The operators' library that the ordinary build makes.
OPAPI = PACKAGE_ROOT / "torch_npu" / "lib" / "cann" / "libopapi.so"
STRICT = "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"


def ccache() -> dict[str, str]:
    """Lets ccache cache files that use the precompiled header, in build/ if its own folder is not writable."""
    variables = {"CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    folder = Path(output(["ccache", "--get-config", "cache_dir"]).strip())
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not os.access(there, os.W_OK):
        variables["CCACHE_DIR"] = str(BUILD / "ccache")
    return variables


def program(name: str) -> str:
    """CMake or Ninja: that of .venv if setup installed one because the system's was unsuitable, else the system's."""
    own = VENV / "bin" / name
    return str(own) if own.exists() else name


def site_packages(interpreter: Path = PYTHON) -> Path:
    """The folder of an interpreter's installed packages."""
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(output([interpreter, "-c", purelib]).strip())


# Of pyproject.toml, for what reads them of an installed package.
ENTRY_POINTS = """\
[torch.backends]
torch_npu = torch_npu:_autoload
[triton.backends]
npu = torch_npu._triton
"""


def link_package(root: Path = PACKAGE_ROOT, interpreter: Path = PYTHON) -> None:
    """Links the Python sources beside the native libraries of ``root``, and makes the result importable."""
    package = root / "torch_npu"
    package.mkdir(parents=True, exist_ok=True)
    wanted = {
        entry.name: entry for entry in SOURCE.iterdir() if entry.name not in {"csrc", "__pycache__"}
    }
    sources = SOURCE.resolve()
    for present in package.iterdir():
        is_source = present.is_symlink() and present.resolve().is_relative_to(sources)
        if (is_source or not present.exists()) and present.name not in wanted:
            present.unlink()
    for name, entry in wanted.items():
        link = package / name
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(entry, package))
    version = f"{(package / 'torch_version.txt').read_text().strip()}+softnpu"
    info = root / "torch_npu.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch-npu\nVersion: {version}\n")
    (info / "INSTALLER").write_text("dev\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (site_packages(interpreter) / "torch_npu_checkout.pth").write_text(f"{root}\n")


def _options(sanitize: str, before: list[str]) -> list[str]:
    # A newer compiler than CI's may have more warnings: a warning is an error only in CI. Without CI set, a folder
    # that CI
    # configured keeps its flag: another flag would rebuild everything.
    strict = os.environ.get("CI", "true" if STRICT in before else "").lower() in {"1", "true"}
    options = [
        f"-DPython3_EXECUTABLE={PYTHON}",
        STRICT if strict else STRICT.replace("=ON", "=OFF"),
    ]
    if (ninja := program("ninja")) != "ninja":
        options.append(f"-DCMAKE_MAKE_PROGRAM={ninja}")
    if sanitize:
        options += ["-DTORCH_NPU_PLUGIN=OFF", f"-DTORCH_NPU_SANITIZE={sanitize}"]
    if sanitize == "thread":
        options += [f"-DTORCH_NPU_BUILT_OPAPI={OPAPI}"]
    return options


def configure(*, sanitize: str = "") -> Path:
    """Runs CMake if there is no build folder for these options and this Python yet; returns the folder."""
    folder = BUILD.with_name(f"build-{sanitize.split(',')[0]}") if sanitize else BUILD
    version = re.search(r"^version = (.*)$", (VENV / "pyvenv.cfg").read_text(), re.MULTILINE)
    stamp = folder / "configured.txt"
    found = stamp.read_text() if stamp.exists() else ""
    options = _options(sanitize, found.splitlines())
    wanted = "\n".join([version[1] if version else "", *options])
    if (folder / "build.ninja").exists() and found == wanted:
        return folder
    say(f"configure {folder.name}/")
    if found.splitlines()[:1] != wanted.splitlines()[:1]:
        # The cache contains the paths of another Python.
        (folder / "CMakeCache.txt").unlink(missing_ok=True)
    run(
        [program("cmake"), "-S", ROOT, "-B", folder, "-G", "Ninja", *options],
        hint="./dev setup installs the compiler, CMake, Ninja and GoogleTest",
    )
    stamp.write_text(wanted)
    return folder


def _ninja(folder: Path, *targets: str) -> None:
    say(f"build {' '.join([f'{folder.name}/', *targets])}")
    run(
        [program("ninja"), "-C", folder, *targets],
        env=ccache(),
        hint="the first error above is the one to fix",
    )


def build(*, sanitize: str = "") -> None:
    """Configures once and builds what changed."""
    if sanitize == "thread":
        _ninja(configure(), "opapi")
    _ninja(configure(sanitize=sanitize))
    if not sanitize:
        link_package()


def check_nothing_to_build(folder: Path = BUILD) -> None:
    """Runs Ninja again after a build.

    Not with `-n`: without running the check of globbed folders Ninja cannot know that nothing follows from it.

    Raises:
        DevError: a second build had something to do; the text says what, and why Ninja thought so.
    """
    command = [program("ninja"), "-C", str(folder), "-d", "explain"]
    message = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **ccache()},
    ).stdout
    if "no work to do" not in message:
        raise DevError(
            f"a second build of {folder.name}/ had work to do, since a file that a step depends on is newer than its"
            f" result, or is missing:\n{message}"
        )
