"""`./dev clients`: runs other projects' official wheels for CANN, unmodified, on softnpu's libraries."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dev.build import build, site_packages
from dev.paths import PACKAGE_ROOT, ROOT
from dev.run import run
from dev.side_venv import make_side_venv

TESTS = ROOT / "tests" / "clients"
LIBRARIES = PACKAGE_ROOT / "torch_npu" / "lib"


@dataclass(frozen=True)
class Client:
    """A wheel, what it needs beside it, and its tests.

    Attributes:
        word: its name on the command line, and of its environment ``.venv-WORD``.
        packages: what pip installs; other packages are those of .venv.
        folder: its tests, below tests/clients.
        env: what its programs need beside the libraries' folders.
    """

    word: str
    packages: tuple[str, ...]
    folder: str
    env: Mapping[str, str] = field(default_factory=dict)

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
    )
}


def run_tests(client: Client, arguments: Sequence[str]) -> None:
    """Makes the environment if it is missing and runs the tests; ``arguments`` are passed to pytest."""
    make_side_venv(client.venv, list(client.packages), [site_packages()])
    # -P, no configuration and a separate folder: Python must not find the checkout's torch_npu.
    pytest = ["-P", "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-c", os.devnull]
    tests = TESTS / client.folder
    run(
        [
            client.venv / "bin" / "python",
            *pytest,
            "--noconftest",
            "--rootdir",
            tests,
            tests,
            *arguments,
        ],
        cwd=client.venv,
        env={
            "LD_LIBRARY_PATH": os.pathsep.join(str(p) for p in (LIBRARIES / "cann", LIBRARIES)),
            "ASCEND_SLOG_PRINT_TO_STDOUT": "1",
            **client.env,
        },
    )


def clients(words: Sequence[str], arguments: Sequence[str] = ()) -> None:
    """Builds softnpu and runs the tests of the clients named by ``words``, or of all."""
    build()
    for word in words or CLIENTS:
        run_tests(CLIENTS[word], arguments)
