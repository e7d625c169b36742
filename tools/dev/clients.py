"""`./dev clients`: runs other projects' packages for CANN, unmodified, on softnpu's libraries and torch_npu."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dev.build import build, site_packages
from dev.paths import PACKAGE_ROOT, PYTHON, ROOT
from dev.run import output, run
from dev.side_venv import add_to_side_venv, make_side_venv

TESTS = ROOT / "tests" / "clients"


def requirements(folder: str) -> tuple[str, ...]:
    """The pinned packages of ``requirements.txt`` in a folder of tests/clients."""
    lines = (TESTS / folder / "requirements.txt").read_text().splitlines()
    return tuple(line for line in lines if not line.startswith("#"))


def without_missing_operators(venv: Path) -> None:
    """Lets torchvision's wheel for CUDA import where its library of operators cannot be loaded.

    The package registers derivatives and shapes of operators that only that library defines.
    """
    file = site_packages(venv / "bin" / "python") / "torchvision" / "__init__.py"
    lines = file.read_text().splitlines(keepends=True)
    names = {"_autograd_registrations,", "_meta_registrations,"}
    kept = [line for line in lines if line.strip() not in names]
    if len(kept) != len(lines) - len(names):
        raise SystemExit(f"{file} does not import {' '.join(sorted(names))}: it is another version")
    file.write_text("".join(kept))


@dataclass(frozen=True)
class Client:
    """Packages, what they need beside them, and their tests.

    Attributes:
        word: its name on the command line, and of its environment ``.venv-WORD``.
        packages: what pip installs; other packages are those of .venv.
        folder: its tests, below tests/clients.
        env: what its programs need beside the libraries' folders.
        alone: packages that pip installs after them without what they require, as it asks for another torch.
        build_env: the options of those that pip builds from their sources.
        prepare: changes the environment before its first run.
        uses_torch_npu: its programs import the checkout's torch_npu, which other clients must not find.
    """

    word: str
    packages: tuple[str, ...]
    folder: str
    env: Mapping[str, str] = field(default_factory=dict)
    alone: tuple[str, ...] = ()
    build_env: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], None] = lambda _: None
    uses_torch_npu: bool = False

    @property
    def venv(self) -> Path:
        """Its environment."""
        return ROOT / f".venv-{self.word}"


CLIENTS = {
    client.word: client
    for client in (
        Client(
            "onnxruntime-cann", ("onnxruntime-cann==1.24.4", "numpy==1.26.4"), "onnxruntime_cann"
        ),
        Client("mindspore", ("mindspore==2.10.0", "numpy==1.26.4"), "mindspore", {"GLOG_v": "3"}),
        Client(
            "vllm",
            requirements("vllm"),
            "vllm",
            # Triton's kernels run in its interpreter. The hub is not asked for what is in a folder.
            {"TRITON_INTERPRET": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"},
            alone=(
                *("triton==3.9.0", "torchvision==0.28.0"),
                *("vllm==0.23.0", "vllm-ascend==0.23.0"),
            ),
            build_env={
                "VLLM_TARGET_DEVICE": "empty",  # Python alone
                "VLLM_VERSION_OVERRIDE": "0.23.0",
                "COMPILE_CUSTOM_KERNELS": "0",
                "SOC_VERSION": "ascend910b1",
            },
            prepare=without_missing_operators,
            uses_torch_npu=True,
        ),
    )
}


def run_tests(client: Client, arguments: Sequence[str]) -> None:
    """Makes the environment if it is missing and runs the tests; ``arguments`` are passed to pytest."""
    sees = [site_packages(), *([PACKAGE_ROOT] if client.uses_torch_npu else [])]
    make_side_venv(client.venv, list(client.packages), sees)
    if client.alone and add_to_side_venv(client.venv, list(client.alone), client.build_env):
        client.prepare(client.venv)
    # As a user's shell does. -P, no configuration and a separate folder: Python must not find the checkout's torch_npu.
    toolkit = output([PYTHON, "-m", "torch_npu", "paths", "--cann-dir"]).strip()
    in_toolkit = ["bash", "-c", 'source "$0/set_env.sh" && exec "$@"', toolkit]
    tests = TESTS / client.folder
    pytest = ["-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    folders = ["--rootdir", tests, "--confcutdir", tests, tests]
    run(
        [*in_toolkit, client.venv / "bin" / "python", *pytest, *folders, *arguments],
        cwd=client.venv,
        # softnpu's log is on the standard output, where tests read it.
        env={"ASCEND_SLOG_PRINT_TO_STDOUT": "1", **client.env},
    )


def clients(words: Sequence[str], arguments: Sequence[str] = ()) -> None:
    """Builds softnpu and runs the tests of the clients named by ``words``, or of all."""
    build()
    for word in words or CLIENTS:
        run_tests(CLIENTS[word], arguments)
