"""`./dev clients`: runs other projects' official wheels for CANN, unmodified, on softnpu's libraries."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dev.build import build, site_packages
from dev.paths import PYTHON, ROOT
from dev.run import output, run
from dev.side_venv import make_side_venv

TESTS = ROOT / "tests" / "clients"


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
        Client("mindspore", ("mindspore==2.10.0", "numpy==1.26.4"), "mindspore", {"GLOG_v": "3"}),
    )
}


def run_tests(client: Client, arguments: Sequence[str]) -> None:
    """Makes the environment if it is missing and runs the tests; ``arguments`` are passed to pytest."""
    make_side_venv(client.venv, list(client.packages), [site_packages()])
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
