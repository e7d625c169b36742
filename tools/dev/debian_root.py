"""A Debian of its own in a folder, made by debootstrap, with this machine's package sources of apt and pip."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dev.run import DevError, run, say

SUITES = {"debian12": "bookworm", "debian13": "trixie"}
MIRROR = "http://deb.debian.org/debian"
PROGRAMS = ("debootstrap", "unshare", "chroot", "mount")
PIP_FILES = (Path("/etc/pip.conf"), Path.home() / ".config" / "pip" / "pip.conf")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def mirror(sources: str) -> str:
    """The first of Debian's mirrors in ``sources``, the text of apt's files in either format; MIRROR if there is none."""
    found = re.search(
        r"^(?:URIs:|deb(?: \[[^\]]*\])?) *(\S+/debian)/?(?:\s|$)", sources, re.MULTILINE
    )
    return found[1] if found else MIRROR


def _apt_sources() -> str:
    apt = Path("/etc/apt")
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    return "\n".join(file.read_text() for file in files if file.is_file())


def local_folders(configuration: str) -> list[Path]:
    """The folders on this machine that a configuration of pip names as links or indexes.

    Of an index, a folder ``simple``, it is the one above, since its pages refer to files beside it.
    """
    names = re.findall(r"(?:file://|(?<![\w/.:]))(/[\w./+-]+)", configuration)
    folders = [path.resolve() for path in map(Path, names) if path.is_dir() and path != Path("/")]
    return sorted({path.parent if path.name == "simple" else path for path in folders})


def _pip_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


def _pip_configuration() -> str:
    texts = [file.read_text() for file in PIP_FILES if file.exists()]
    return "\n".join([*texts, *_pip_environment().values()])


@dataclass(frozen=True)
class Result:
    """What a command in the root printed, both streams as one text, and its exit code."""

    output: str
    code: int


@dataclass(frozen=True)
class Root:
    """The root in ``folder``; ``mounts`` maps folders in it to those of this machine that are seen there, read-only."""

    folder: Path
    mounts: Mapping[str, Path]

    def command(self, script: str) -> list[str]:
        """The command that runs ``script`` by the root's shell; what is mounted is seen by it alone, and ends with it."""
        root = shlex.quote(str(self.folder))
        lines = [f"mount --rbind /{name} {root}/{name}" for name in ("proc", "sys", "dev")]
        for seen_at, source in self.mounts.items():
            target = shlex.quote(f"{self.folder}{seen_at}")
            lines += [
                f"mkdir -p {target}",
                f"mount --bind {shlex.quote(str(source))} {target}",
                f"mount -o remount,bind,ro {target}",
            ]
        environment = {"HOME": "/root", "PATH": _PATH, "LANG": "C.UTF-8", **_pip_environment()}
        words = [f"{name}={value}" for name, value in environment.items()]
        inside = shlex.join(["env", "-i", *words, "/bin/bash", "-c", script])
        return [
            "unshare",
            "--mount",
            "sh",
            "-ec",
            "\n".join([*lines, f"exec chroot {root} {inside}"]),
        ]

    def run(self, script: str) -> Result:
        """Runs ``script``; a failure is a result, not an error."""
        done = subprocess.run(
            self.command(script),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Result(done.stdout, done.returncode)


def check() -> None:
    """Checks what a root needs of this machine.

    Raises:
        DevError: the user is not root, or a program is missing.
    """
    if os.geteuid() != 0:
        raise DevError("a root folder is made and entered by the user root: run it under sudo")
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        raise DevError(f"this needs {', '.join(missing)}: on Debian, apt-get install debootstrap")


def _make_base(system: str, folder: Path) -> None:
    """A fresh installation, made once: debootstrap's part of it takes minutes."""
    address, suite = mirror(_apt_sources()), SUITES[system]
    done = folder.with_suffix(".done")
    if done.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    say(f"{system} in {folder}, from {address}")
    run(["debootstrap", "--variant=minbase", suite, folder, address], quiet=True)
    (folder / "etc" / "apt" / "sources.list").write_text(
        f"deb {address} {suite} main\ndeb {address} {suite}-updates main\n"
        f"deb {address}-security {suite}-security main\n"
    )
    done.touch()


def make_root(system: str, folder: Path, mounts: Mapping[str, Path]) -> Root:
    """A fresh root of ``system``, one of SUITES, in ``folder``; an earlier one is removed.

    Raises:
        DevError: debootstrap fails, or ``check`` does.
    """
    check()
    base = folder.with_name(f"{folder.name}-base")
    _make_base(system, base)
    shutil.rmtree(folder, ignore_errors=True)
    run(["cp", "-a", "--reflink=auto", base, folder])
    for file in (Path("/etc/hosts"), Path("/etc/resolv.conf")):
        shutil.copy(file, folder / "etc" / file.name)
    for file, copy in zip(PIP_FILES, ("etc/pip.conf", "root/.config/pip/pip.conf"), strict=True):
        if file.exists():
            (folder / copy).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder / copy)
    packages = {str(path): path for path in local_folders(_pip_configuration())}
    root = Root(folder, {**packages, **mounts})
    trust(root)
    return root


def trust(root: Root) -> None:
    """Gives the root this machine's certificates, which those of its own package replaced."""
    if CERTIFICATES.exists():
        target = root.folder / CERTIFICATES.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CERTIFICATES, target)
