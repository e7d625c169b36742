"""`./dev setup` under sudo: the owner of the files that it makes."""

import os
import pwd
import subprocess

import pytest
from dev import setup
from dev.run import DevError

CALLER = pwd.struct_passwd(("caller", "x", 1000, 1001, "", "/home/the caller", "/bin/sh"))


class Owned:
    """A folder of that user."""

    def __init__(self, uid):
        self.st_uid = uid

    def stat(self):
        return self


@pytest.mark.parametrize(
    ("effective", "caller", "owner", "becomes"),
    [
        (0, "1000", 1000, 1000),
        (0, "1000", 0, None),
        (0, None, 1000, None),
        (0, "0", 0, None),
        (1000, "1000", 1000, None),
    ],
)
def test_under_sudo_setup_continues_as_the_caller(monkeypatch, effective, caller, owner, becomes):
    calls = {}
    monkeypatch.setattr(os, "geteuid", lambda: effective)
    monkeypatch.setattr(os, "setuid", lambda uid: calls.update(uid=uid))
    monkeypatch.setattr(os, "setgid", lambda gid: calls.update(gid=gid))
    monkeypatch.setattr(os, "initgroups", lambda name, gid: calls.update(groups=(name, gid)))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: CALLER)
    monkeypatch.setattr(setup, "ROOT", Owned(owner))
    monkeypatch.setenv("HOME", "/root")
    monkeypatch.setenv("USER", "root")
    monkeypatch.setenv("LOGNAME", "root")
    monkeypatch.delenv("SUDO_UID", raising=False)
    if caller:
        monkeypatch.setenv("SUDO_UID", caller)
    setup.become_caller()
    assert calls == ({"uid": 1000, "gid": 1001, "groups": ("caller", 1001)} if becomes else {})
    assert os.environ["HOME"] == ("/home/the caller" if becomes else "/root")


def test_environment_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "VENV", tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(DevError, match=r"\.venv is \w+'s: sudo rm -r '.*', then \./dev setup"):
        setup.make_venv()


def test_the_command_ascendc_of_the_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "VENV", tmp_path)
    (tmp_path / "bin").mkdir()
    setup.write_ascendc()
    script = tmp_path / "bin" / "ascendc"
    written = script.stat().st_mtime_ns
    done = subprocess.run([script, "new"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("ascendc: ascendc new NAME: one name")
    setup.write_ascendc()
    assert script.stat().st_mtime_ns == written
