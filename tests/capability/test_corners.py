"""A small training step in odd places: no HOME, strict masks, small or missing file systems, few files, one core."""

import os
import shutil
import subprocess
import sys

import pytest

PROGRAM = """
import torch

x = torch.randn(64, 64, device="npu", requires_grad=True)
torch.nn.functional.gelu(x @ x).square().sum().backward()
images, weights = torch.randn(1, 8, 16, 16, device="npu"), torch.randn(8, 8, 3, 3, device="npu")
sizes = torch.nn.functional.conv2d(images, weights).shape
torch.npu.synchronize()
assert bool(x.grad.isfinite().all()) and sizes == (1, 8, 14, 14)
print("done")
"""
# In a namespace of its own: what is mounted there ends with it.
MOUNTS = {
    "a /dev/shm of 64 MiB": "mount -t tmpfs -o size=64m tmpfs /dev/shm",
    "a /dev/shm that cannot be written": "mount -t tmpfs -o ro tmpfs /dev/shm",
    "no /proc": "mount -t tmpfs tmpfs /proc",
    "no /sys": "mount -t tmpfs tmpfs /sys",
    "a home that cannot be written": 'mount -t tmpfs -o ro tmpfs "$HOME"',
}
LIMITS = {
    "a mask of 077": "umask 077",
    "4 GB of addresses": "ulimit -v 4000000",
    "32 open files": "ulimit -n 32",
    "one core": "taskset -pc 0 $$ > /dev/null",
}


def run(command, **environment):
    ended = subprocess.run(
        ["bash", "-c", f'{command} && exec "$@"', "-", sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "done"), ended.stdout + ended.stderr


@pytest.mark.parametrize("name", LIMITS)
def test_under_a_limit(name):
    run(LIMITS[name])


def test_without_a_home_and_an_environment():
    variables = " ".join(
        f"-u {name}" for name in ("HOME", "LANG", "LC_ALL", "PATH", "XDG_CACHE_HOME")
    )
    run(f'exec /usr/bin/env {variables} "$@"; true')


@pytest.mark.parametrize("verb", ["doctor", "env", "paths --lib-dir"])
def test_commands_without_numpy(verb):
    program = f"""
import runpy, sys
sys.modules["numpy"] = None  # importing it fails, as where pip installed torch alone
sys.argv = ["torch-npu", *{verb.split()!r}]
runpy.run_module("torch_npu", run_name="__main__")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_in_a_folder_with_spaces_and_other_letters(tmp_path):
    folder = tmp_path / "a b ü"
    folder.mkdir()
    run(f"cd '{folder}'", HOME=str(folder), TMPDIR=str(folder))


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="mounting needs root and unshare"
)
@pytest.mark.parametrize("name", MOUNTS)
def test_with_another_file_system(name, tmp_path):
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True)
    if probe.returncode != 0:
        pytest.skip("this container may not mount")
    ended = subprocess.run(
        [
            "unshare",
            "-m",
            "bash",
            "-c",
            f'{MOUNTS[name]} && exec "$@"',
            "-",
            sys.executable,
            "-c",
            PROGRAM,
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "done"), ended.stdout + ended.stderr
