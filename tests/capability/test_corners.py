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
SYSTEM_CALLS = os.path.join(os.path.dirname(__file__), "system_calls.py")
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int calls;
int clock_gettime(clockid_t clock, struct timespec* t) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, t);
  if (clock == CLOCK_REALTIME) t->tv_sec += __sync_fetch_and_add(&calls, 1) % 2 ? 36000 : -36000;
  return result;
}
"""
LATE_THREAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
void PyEval_AcquireThread(void* state) {
  if (gettid() != getpid()) sleep(4);
  ((void (*)(void*))dlsym(RTLD_NEXT, "PyEval_AcquireThread"))(state);
}
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


def _refused(call, program=PROGRAM):
    return subprocess.run(
        [sys.executable, SYSTEM_CALLS, call, sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_on_a_kernel_without_huge_pages_on_request():
    ended = _refused("madvise")
    assert (ended.returncode, ended.stdout.strip()) == (0, "done"), ended.stdout + ended.stderr


def test_where_memory_files_are_refused():
    """Device memory is a memory file: the first use of the device says so in one sentence."""
    ended = _refused("memfd_create")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "memfd_create" in ended.stderr, ended.stderr


def _run_with_functions(tmp_path, text, **environment):
    """Runs the program with these C functions in front of the system's."""
    source, library = tmp_path / "functions.c", tmp_path / "functions.so"
    source.write_text(text)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    run("true", LD_PRELOAD=str(library), **environment)


def test_when_the_clock_jumps(tmp_path):
    """Time limits count by a clock that is never set: the wall clock goes back and forth by hours."""
    _run_with_functions(tmp_path, CLOCK, HCCL_CONNECT_TIMEOUT="120")


def test_ending_before_the_threads_of_autograd_have_started(tmp_path):
    """Python ends threads that wait for its lock; autograd's engine would wait for them."""
    _run_with_functions(tmp_path, LATE_THREAD, TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT="100000")


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
