"""`./dev install-trial debian13`: what a stranger meets who installs torch_npu on a new machine, step by step and timed.

The committed sources are cloned into a Debian of its own, and built by pip with the system's Python. Each kind of bad
input has to end in its sentence.
"""

import argparse
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dev.command_line import Parser
from dev.debian_root import SUITES, Result, Root, make_root, trust
from dev.paths import ROOT
from dev.run import DevError, say
from dev.torch_wheel import VERSION

FOLDER = ROOT / "build-install-trial"
NEEDED = 14 * 10**9
_APT = "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends"
_PYTHON_DEV = "python3.$(python3 -c 'import sys; print(sys.version_info.minor)')-dev"
# Programs run outside of the clone, as those of a stranger.
_IN = "cd /trial && . venv/bin/activate && cd /tmp &&"
_SITE = "$(python -c \"import sysconfig; print(sysconfig.get_path('purelib'))\")"
_REASON = (
    "python -c 'import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())'"
)


@dataclass(frozen=True)
class Step:
    """A script in the root. It has to print what ``prints`` matches, and to fail if and only if ``fails``."""

    name: str
    script: str
    prints: str = ""
    fails: bool = False


def example() -> str:
    """The first program of README.md."""
    found = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    if found is None:
        raise DevError("README.md has no example in Python")
    return found[1]


def _index() -> str:
    """The option of pip for the index of CPU builds that ``./dev setup`` takes; without it, what pip offers."""
    index = os.environ.get("TORCH_CPU_INDEX")
    return f"--index-url {index}" if index else ""


def _with_site(change: str, restore: str) -> str:
    """A script that asks why there is no npu while ``change`` is made to the installed packages."""
    return f"{_IN} cd {_SITE} && {change} && (cd /tmp; {_REASON}); {restore}"


def steps(wheel: str = "", torch: str = VERSION) -> list[Step]:
    """The steps in their order; with ``wheel``, its path in the root, nothing is built."""
    source = wheel or "/trial/torch_npu"
    build = f"{_IN} pip install {source}"
    no_build = (
        []
        if wheel
        else [
            Step(
                "no torch: refused", build, "built for one torch, and there is none in", fails=True
            ),
        ]
    )
    no_tools = (
        []
        if wheel
        else [
            Step(
                "no compiler: refused", build, r"this needs g\+\+ 12 or newer, Highway", fails=True
            ),
            Step("compiler", f"{_APT} g++ libjpeg62-turbo-dev libpng-dev {_PYTHON_DEV}"),
            Step(
                "no Highway: refused",
                build,
                r"this needs Highway 1\.0\.3 or newer: sudo apt",
                fails=True,
            ),
            Step("Highway", f"{_APT} libhwy-dev"),
            Step(
                "wrong torch: refused",
                "mkdir -p /trial/old/torch && echo \"__version__ = '2.6.0'\" > /trial/old/torch/version.py && "
                f"export TORCH_NPU_BUILD_TORCH=/trial/old && {build}",
                r"has torch 2\.6\.0: install another torch first",
                fails=True,
            ),
            Step(
                # With a host: pip 23.0 refuses a named requirement whose address has none.
                "the repository's address is accepted",
                f'{_IN} pip install --dry-run "torch-npu @ git+file://localhost/src"',
                rf"Would install .*torch-npu-{re.escape(torch)}\+softnpu",
            ),
        ]
    )
    other = "2.10.0"
    version = "torch/version.py"
    library = "torch_npu/lib/cann/libopapi.so"
    module = "torch_npu/_registration.py"
    second = "torch_npu-0.1+softnpu.dist-info"
    return [
        Step(
            "system packages",
            f"apt-get update -qq && {_APT} ca-certificates git python3 python3-venv",
        ),
        Step(
            "clone and environment",
            "rm -rf /trial && mkdir /trial && cd /trial && git config --global safe.directory '*' && "
            "git clone -q /src torch_npu && python3 -m venv venv && venv/bin/pip --version",
            r"\(python 3\.\d+\)",
        ),
        *no_build,
        Step("pip install torch", f"{_IN} pip install -q {_index()} torch=={torch}"),
        *no_tools,
        Step(f"pip install {Path(wheel).name if wheel else '.'}", build, "Successfully installed"),
        Step("README's example", f"{_IN} python - <<'EOF'\n{example()}EOF", r"npu:0 \d+ bytes"),
        Step("doctor", f"{_IN} python -m torch_npu doctor"),
        Step(
            "the program of examples/ci and its tests",
            f"{_IN} pip install -q pytest && cp -r /src/examples/ci/program . && python -m pytest -q program",
            "2 passed",
        ),
        Step(
            "read-only packages: they run",
            f"mount --bind /trial/venv /trial/venv && mount -o remount,bind,ro /trial/venv && {_IN} "
            "python -c 'import torch; x = torch.ones(64, 64, device=\"npu\"); print((x @ x).sum().item())'",
            r"262144\.0",
        ),
        Step(
            "another torch: not available",
            _with_site(
                f"sed -i.was \"s/__version__ = '[0-9.]*/__version__ = '{other}/\" {version}",
                f"mv {version}.was {version}",
            ),
            rf"False torch_npu is built for torch {re.escape(torch)}, but torch {re.escape(other)}",
        ),
        Step(
            "half an installation: not available",
            _with_site(
                f"mv {library} {library}.was && head -c 100000 {library}.was > {library}",
                f"mv {library}.was {library}",
            ),
            r"False \S+libopapi\.so is cut off, torch_npu is not installed completely",
        ),
        Step(
            "half of the Python files: not available",
            _with_site(f"mv {module} {module}.was", f"mv {module}.was {module}"),
            r"False \S+_registration\.py is missing, torch_npu is not installed completely",
        ),
        Step(
            "two versions at once: not available",
            _with_site(
                f"mkdir {second} && printf 'Name: torch-npu\\nVersion: 0.1+softnpu\\n' > {second}/METADATA",
                f"rm -r {second}",
            ),
            "False .* has two versions of torch_npu",
        ),
        Step("after these: available", f"{_IN} {_REASON}", "^True"),
        Step(
            "pip uninstall leaves nothing",
            f"{_IN} pip uninstall -q -y torch-npu && ls -d {_SITE}/torch_npu*",
            "No such file",
            fails=True,
        ),
    ]


def judged(step: Step, result: Result) -> str:
    """Why ``result`` is not what ``step`` asks for; empty if it is."""
    if (result.code != 0) != step.fails:
        return f"ended with exit code {result.code}"
    if not re.search(step.prints, result.output, re.MULTILINE):
        return f"printed nothing that matches {step.prints!r}"
    if "Traceback" in result.output:
        return "printed a traceback"
    return ""


def run_steps(execute: Callable[[str], Result], steps: Sequence[Step]) -> None:
    """Runs the steps by ``execute`` and prints each with its seconds.

    Raises:
        DevError: a step did not end as it has to; the text has the end of what it printed.
    """
    for step in steps:
        started = time.monotonic()
        result = execute(step.script)
        say(f"{time.monotonic() - started:7.0f} s  {step.name}")
        if reason := judged(step, result):
            end = "\n".join(result.output.splitlines()[-30:])
            raise DevError(f"{step.name}: {reason}; it printed\n{end}")


def arguments(parser: Parser) -> None:
    """The arguments of `./dev install-trial`."""
    parser.add_argument("system", choices=sorted(SUITES))
    parser.add_argument(
        "--wheel", type=Path, metavar="FILE", help="installs this wheel in place of a build"
    )


def _execute(root: Root) -> Callable[[str], Result]:
    def execute(script: str) -> Result:
        result = root.run(script)
        trust(root)
        return result

    return execute


def install_trial(options: argparse.Namespace) -> None:
    """Runs the steps in a root of ``options.system`` in build-install-trial/, which is kept.

    Raises:
        DevError: the machine lacks what a root needs, or a step did not end as it has to.
    """
    mounts = {"/src": ROOT}
    wheel = ""
    if options.wheel:
        if not options.wheel.is_file():
            raise DevError(f"there is no wheel {options.wheel}: ./dev wheel makes one in dist/")
        mounts["/wheels"] = options.wheel.resolve().parent
        wheel = f"/wheels/{options.wheel.name}"
    folder = FOLDER / options.system
    free = shutil.disk_usage(ROOT).free
    if free < NEEDED:
        raise DevError(
            f"a trial takes up to {NEEDED / 1e9:.0f} GB, and {free / 1e9:.1f} GB are free"
        )
    root = make_root(options.system, folder, mounts)
    run_steps(_execute(root), steps(wheel))
