"""The CMake package Ascendc, and the example that uses it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torch_npu.softnpu import cmake_dir, lib_dir

ROOT = Path(__file__).resolve().parents[2]
HEADERS = lib_dir().parents[1] / "cann" / "ascendc" / "include" / "ascendc"

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on the path")

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(program LANGUAGES CXX)
find_package(Ascendc REQUIRED)
ascendc_library(kernels STATIC k.cpp)
ascendc_include_directories(kernels PRIVATE more)
ascendc_compile_definitions(kernels PRIVATE -DFIRST=1 SECOND=2)
ascendc_compile_options(kernels PRIVATE -O0)
add_executable(program main.cpp)
target_compile_features(program PRIVATE cxx_std_17)
target_link_libraries(program PRIVATE kernels)
"""
KERNEL = """
#include "kernel_operator.h"
#include "third.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x) { ((int*)x)[0] = FIRST + SECOND + THIRD; }
"""
MAIN = """
#include <cstdio>
#include "acl/acl.h"
#include "aclrtlaunch_k.h"
int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  void* x = nullptr;
  int y = 0;
  aclrtMalloc(&x, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  ACLRT_LAUNCH_KERNEL(k)(1, nullptr, x);
  aclrtSynchronizeStream(nullptr);
  aclrtMemcpy(&y, sizeof(y), x, sizeof(y), ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("%d\\n", y);
}
"""


def run(*command):
    """Runs a command; what it printed."""
    env = {**os.environ, "ASCENDC_PYTHON": sys.executable}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300, env=env
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(source, build):
    """Configures and builds a project."""
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={cmake_dir()}")
    run("cmake", "--build", build)


def test_a_project_with_kernels(tmp_path):
    (tmp_path / "more").mkdir()
    files = {"CMakeLists.txt": PROJECT, "k.cpp": KERNEL, "main.cpp": MAIN}
    files["more/third.h"] = "constexpr int THIRD = 4;\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    built(tmp_path, tmp_path / "build")
    assert run(tmp_path / "build" / "program") == "7\n"
    (tmp_path / "more" / "third.h").write_text("constexpr int THIRD = 40;\n")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build" / "program") == "43\n"


def test_wrong_arguments_are_named(tmp_path):
    for library, sentence in (
        ("ascendc_library(kernels OBJECT k.cpp)", "the second argument is SHARED or STATIC"),
        ("ascendc_library(kernels SHARED)", "no sources are named"),
    ):
        (tmp_path / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.16)\nproject(p)\nfind_package(Ascendc REQUIRED)\n{library}\n"
        )
        done = subprocess.run(
            ["cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={cmake_dir()}"],
            capture_output=True,
            text=True,
        )
        assert done.returncode != 0
        assert sentence in " ".join(done.stderr.split())


@pytest.mark.skipif(
    not list(HEADERS.glob("vector*.h")), reason="the headers have no vector instructions yet"
)
def test_the_example_runs(tmp_path):
    built(ROOT / "examples" / "ascend_c", tmp_path)
    assert run(tmp_path / "axpy") == "2 * 1.5 + 1 = 4, 8192 times\n"
