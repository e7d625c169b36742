"""What `./dev setup` prints and does on systems that are too old, without apt-get, without root: all faked on PATH."""

import os

import pytest
from dev import build, system
from dev.run import DevError

COMPILER = """case "$1" in
-dump*) echo {version} ;;
*) for name in GoogleTest libjpeg-turbo libpng; do echo "dev_probe $name"; done
   echo 'dev_probe Highway {highway}' ;;
esac"""


class Machine:
    """Programs are scripts in one folder, which is the whole PATH."""

    def __init__(self, folder):
        self.folder = folder
        self.calls = folder.parent / "calls"
        self.staged = folder.parent / "staged"
        for path in (folder, self.staged):
            path.mkdir()

    def has(self, name, script="", folder=None):
        file = (folder or self.folder) / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def has_compiler(self, version, highway, folder=None):
        self.has("g++", COMPILER.format(version=version, highway=highway), folder)

    def has_apt(self, **candidates):
        """apt-get that installs the staged packages, and the candidates that apt-cache shows."""
        self.has(
            "apt-get", f'echo "$*" >> {self.calls}; exec /bin/cp -r {self.staged}/. {self.folder}'
        )
        shown = "".join(
            f"{name.replace('gxx', 'g++').replace('_', '-')}) echo 'Version: {version}' ;;\n"
            for name, version in candidates.items()
        )
        self.has("apt-cache", f'case "$3" in\n{shown}esac')
        self.has("dpkg-query", "echo installed")

    def called(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path, monkeypatch):
    result = Machine(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(result.folder))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(system, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(system, "_python_headers", lambda: ())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return result


def is_system(name):
    system.OS_RELEASE.write_text(f'ID=x\nPRETTY_NAME="{name}"\n')


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("installed", [True, False])
def test_ubuntu_22_04_is_told_what_is_too_old(machine, monkeypatch, root, installed):
    is_system("Ubuntu 22.04.5 LTS")
    machine.has_apt(gxx="4:11.2.0-1ubuntu1", libhwy_dev="0.16.0-2")
    if installed:
        machine.has_compiler("11.4.0", "0 16 0")
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    with pytest.raises(DevError) as error:
        system.install_system()
    assert str(error.value).startswith(
        "Ubuntu 22.04.5 LTS is too old: it has g++ 11.2.0 (12 or newer is needed), "
        "Highway 0.16.0 (1.0.3 or newer is needed)."
    )
    assert [call for call in machine.called() if call.startswith("install")] == []


def test_a_newer_compiler_and_highway_of_ones_own_are_enough(machine, monkeypatch):
    is_system("Ubuntu 22.04.5 LTS")
    machine.has_apt(gxx="4:11.2.0-1ubuntu1", libhwy_dev="0.16.0-2")
    machine.has_compiler("11.4.0", "1 2 0")
    own = machine.folder / "g++-13"
    own.write_text((machine.folder / "g++").read_text().replace("11.4.0", "13.1.0"))
    own.chmod(0o755)
    monkeypatch.setenv("CXX", "g++-13")
    system.check_system()


def test_root_gets_what_is_missing(machine):
    is_system("Debian GNU/Linux 13 (trixie)")
    machine.has_apt(gxx="4:14.2.0-1", libhwy_dev="1.2.0-2+b2")
    machine.has_compiler("14.2.0", "1 2 0", machine.staged)
    system.install_system()
    update, install = machine.called()
    assert update == "update -qq"
    assert install.startswith("install -y --no-install-recommends g++ libhwy-dev libgtest-dev ")
    assert "ccache" in install


def test_without_root_the_command_is_named(machine, monkeypatch):
    is_system("Debian GNU/Linux 13 (trixie)")
    machine.has_apt(gxx="4:14.2.0-1", libhwy_dev="1.2.0-2+b2")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(DevError) as error:
        system.install_system()
    assert str(error.value) == (
        "this needs g++ 12 or newer, Highway 1.0.3 or newer, GoogleTest, libjpeg-turbo, libpng: "
        "run sudo ./dev setup, which installs them, or this and then ./dev setup:\n"
        "  sudo apt-get install -y --no-install-recommends g++ libhwy-dev libgtest-dev libjpeg62-turbo-dev libpng-dev"
    )
    assert machine.called() == []


def test_without_apt_get_the_needs_are_named(machine):
    is_system("Fedora Linux 42")
    machine.has_compiler("15.1.1", "0 16 0")
    with pytest.raises(DevError, match=r"needs Highway 1\.0\.3 or newer: install them as Fedora"):
        system.install_system()


def test_requirements_of_linting_are_optional(machine):
    is_system("Fedora Linux 42")
    machine.has_compiler("15.1.1", "1 2 0")
    system.install_system()


@pytest.mark.parametrize(
    ("programs", "wheels"),
    [
        ({"cmake": "3.25.1", "ninja": "1.11.1"}, []),
        ({"cmake": "3.22.1", "ninja": "1.11.1"}, ["cmake"]),
        ({"cmake": "4.1.0"}, ["ninja"]),
        ({}, ["cmake", "ninja"]),
    ],
)
def test_cmake_and_ninja_come_from_pip_where_the_systems_are_no_good(machine, programs, wheels):
    for name, version in programs.items():
        machine.has(name, f"echo {name} version {version}")
    found = system.wheels_in_place()
    assert [wheel.partition("==")[0] for wheel in found] == wheels


def test_the_build_takes_the_programs_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "VENV", tmp_path)
    assert build.program("cmake") == "cmake"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cmake").touch()
    assert build.program("cmake") == str(tmp_path / "bin" / "cmake")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4:11.2.0-1ubuntu1", (11, 2, 0)),
        ("0.16.0-2", (0, 16, 0)),
        ("cmake version 3.22.1\n", (3, 22, 1)),
        ("3.31.6-2", (3, 31, 6)),
        ("12.2.0", (12, 2, 0)),
        ("none", None),
    ],
)
def test_versions_are_read(text, version):
    assert system.version_in(text) == version
