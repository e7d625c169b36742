"""Which Python `./dev` and ci/build.sh use: 3.11 to 3.14, or the one that is set."""

import shutil
import subprocess
import sys

import pytest
from dev import setup
from dev.paths import ROOT
from dev.run import DevError


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose ./dev prints its arguments; ci/build.sh is the real one."""
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / "ci" / "build.sh", tmp_path / "ci")
    (tmp_path / "dev").write_text('#!/bin/sh\necho "$DEV_PYTHON: $*"\n')
    (tmp_path / "dev").chmod(0o755)
    return tmp_path


def build_sh(checkout, *arguments):
    command = ["bash", checkout / "ci" / "build.sh", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_build_sh_takes_the_python_that_it_is_told(checkout, version):
    assert build_sh(checkout, f"--python={version}").stdout == f"python{version}: wheel\n"


@pytest.mark.parametrize(
    ("argument", "code", "says"),
    [
        ("--python=3.10", 1, "Python 3.10 is not supported"),
        ("--python=3.1", 1, "Python 3.1 is not supported"),
        ("--fast", 2, "unknown argument --fast"),
    ],
)
def test_build_sh_refuses_others(checkout, argument, code, says):
    printed = build_sh(checkout, argument)
    assert printed.returncode == code
    assert says in printed.stderr
    assert "--python=3.11|3.12|3.13|3.14" in printed.stderr


@pytest.fixture
def dev(tmp_path):
    """Calls ./dev --help with only the given Python versions on PATH."""

    def call(pythons, told=""):
        programs = tmp_path / "bin"
        programs.mkdir()
        (programs / "dirname").symlink_to(shutil.which("dirname"))
        for name, version in pythons.items():
            (programs / name).write_text(
                "#!/bin/sh\n"
                'if [ "$1" = -m ]; then echo "$0 $*"; exit; fi\n'
                f'exec "{sys.executable}" -c "import sys; sys.version_info = ({version}); $2"\n'
            )
            (programs / name).chmod(0o755)
        env = {"PATH": str(programs), "DEV_PYTHON": told}
        return subprocess.run(
            ["/bin/sh", ROOT / "dev", "build"], capture_output=True, text=True, check=False, env=env
        )

    return call


@pytest.mark.parametrize(
    ("pythons", "taken"),
    [
        ({"python3": "3, 13, 5", "python3.11": "3, 11, 2"}, "python3"),
        ({"python3": "3, 10, 12", "python3.12": "3, 12, 1"}, "python3.12"),
        ({"python3": "3, 15, 0", "python3.14": "3, 14, 0"}, "python3.14"),
    ],
)
def test_dev_takes_the_first_python_that_it_can_run_on(dev, pythons, taken):
    printed = dev(pythons)
    assert printed.stdout.split()[0].endswith(f"/bin/{taken}")
    assert printed.stdout.split()[1:] == ["-m", "dev", "build"]


def test_dev_takes_the_python_that_it_is_told(dev):
    printed = dev({"python3": "3, 13, 5", "python3.11": "3, 11, 2"}, told="python3.11")
    assert printed.stdout.split()[0].endswith("/bin/python3.11")


@pytest.mark.parametrize(
    ("told", "says"),
    [("", "./dev needs Python 3.11 to 3.14"), ("python3", "./dev: python3 is no Python 3.11")],
)
def test_dev_says_what_it_needs(dev, told, says):
    printed = dev({"python3": "3, 10, 12"}, told)
    assert printed.returncode == 1
    assert printed.stderr.startswith(says)


def test_an_environment_of_another_python_is_not_taken_for_the_one_asked_for(monkeypatch):
    monkeypatch.setenv("DEV_PYTHON", "python3")
    monkeypatch.setattr(setup, "PYTHON", ROOT)
    monkeypatch.setattr(setup, "output", lambda _: "pip 25.1 from /x (python 3.10)\n")
    with pytest.raises(DevError, match=r"\.venv is of Python 3\.10, DEV_PYTHON asks for 3\.1\d"):
        setup.make_venv()
