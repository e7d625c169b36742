"""The command ascendc: its options, its errors, what it writes."""

import os
import subprocess
import sys

import pytest

from torch_npu.ascendc.command_line import SOCS, main

HELLO = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR x, uint32_t n) {
%s
}
"""


@pytest.fixture
def source(tmp_path):
    """Writes a kernel with that body; the file."""

    def write(body: str, name: str = "k.cpp"):
        path = tmp_path / name
        path.write_text(HELLO % body)
        return path

    return write


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "no source is named: ascendc add_custom.cpp -o libadd.so"),
        (("none.cpp",), "none.cpp: there is no such file"),
        (("a.py",), "a.py is no C++: sources end with .cpp, .cc"),
        (("none.cpp", "-o", "a.cpp"), "none.cpp: there is no such file"),
        (("--soc=Ascend310", "a.cpp"), "--soc=Ascend310 is not known: it takes Ascend910B1,"),
        (("--npu-arch=dav-3510", "a.cpp"), "--npu-arch=dav-3510 is not known: it takes dav-2201"),
        (("-x", "cuda", "a.cpp"), "-x cuda is not known: it takes asc, c++"),
        (("a.cpp", "-I"), "-I needs a value"),
        (("-o", "a", "-o", "b", "a.cpp"), "-o is given twice"),
    ],
)
def test_wrong_use_is_one_sentence(arguments, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("ascendc: ")
    assert printed.err.count("\n") == 1
    assert sentence in printed.err
    assert printed.out == ""


def test_a_source_is_not_overwritten(source, capsys):
    path = source("")
    assert main((str(path), "-o", str(path))) == 1
    assert "would overwrite a source" in capsys.readouterr().err


def test_the_command_needs_no_torch(driver, source, tmp_path):
    done = driver(source(""), "-o", tmp_path / "libk.so")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "libk.so").exists()


def test_commands_are_printed_and_not_run(source, tmp_path, capsys):
    output = tmp_path / "libk.so"
    arguments = [
        "--print-command",
        source(""),
        "-o",
        output,
        "-DA=1",
        "-I",
        "inc",
        "-lm",
        "-O3",
        "--check",
    ]
    assert main([str(a) for a in arguments]) == 0
    preprocess, compile_, link = capsys.readouterr().out.splitlines()
    assert "-DA=1 -Iinc" in preprocess
    assert "-DA=1" not in compile_
    assert "-O3" in compile_
    assert "-fno-omit-frame-pointer" in compile_
    assert "-lm" in link
    assert "-lsoftnpu_kernel -lascendcl" in link
    assert "-march" not in preprocess + compile_ + link
    assert not output.exists()


def test_programs_need_not_name_what_the_official_plug_in_brings(source, tmp_path, capsys):
    arguments = ["--print-command", str(source("")), "-ltorch_npu", f"-L{tmp_path}"]
    assert main(arguments) == 0
    assert "-ltorch_python" not in capsys.readouterr().out
    (tmp_path / "libtorch_python.so").write_text("")
    assert main(arguments) == 0
    assert capsys.readouterr().out.count("-ltorch_python") == 1
    assert main([*arguments, "-ltorch_python"]) == 0
    assert capsys.readouterr().out.count("-ltorch_python") == 1


@pytest.mark.parametrize(
    ("body", "line", "sentence"),
    [
        ("  int a = 1\n  ;\n  undefined_name(a);", 6, "undefined_name"),
        ("  AscendC::NoSuchInstruction(x);", 4, "NoSuchInstruction"),
        ("  DTYPE_X a;", 4, "DTYPE_X is a macro of the build: add -DDTYPE_X=half"),
        ("  GET_TILING_DATA(t, x);", 4, "--tiling=FILE"),
        ("  Matmul<int> a;", 4, "Matmul belongs to the cube's objects"),
        ("  k<<<1, nullptr>>>(x, n);", 4, "k<<<blocks, l2ctrl, stream>>>(arguments)"),
        ("  k<<<1, nullptr, nullptr>>>(x);", 4, "k.cpp does not compile"),
    ],
)
def test_errors_name_the_authors_line(body, line, sentence, source, tmp_path, capsys):
    path = source(body)
    assert main([str(path), "-o", str(tmp_path / "libk.so")]) == 1
    printed = capsys.readouterr().err
    assert f"{path}:{line}:" in printed
    assert sentence in printed
    assert not (tmp_path / "libk.so").exists()


def test_a_parameter_that_cannot_be_copied_is_an_error_of_the_kernel(tmp_path, capsys):
    path = tmp_path / "k.cpp"
    path.write_text('#include "kernel_operator.h"\n\n__global__ __aicore__ void k(int& a) {}\n')
    assert main([str(path), "-o", str(tmp_path / "libk.so")]) == 1
    printed = capsys.readouterr().err
    assert "a kernel's parameters are values" in printed
    assert f"{path}:3:" in printed


def test_a_kernel_may_have_the_name_of_a_c_function(tmp_path):
    path = tmp_path / "k.cpp"
    path.write_text(
        '#include "kernel_operator.h"\n'
        'extern "C" __global__ __aicore__ void hypot(GM_ADDR x) {}\n'
        "void launch(void* stream) { hypot<<<1, nullptr, stream>>>(nullptr); }\n"
        "double length(double x, double y) { return hypot(x, y); }\n"
    )
    output = tmp_path / "libk.so"
    assert main([str(path), "-o", str(output), "-O1"]) == 0
    assert b"aclrtlaunch_hypot" in output.read_bytes()


def test_two_kernels_of_one_name_are_refused(source, tmp_path, capsys):
    first, second = source("", "a.cpp"), source("", "b.cpp")
    assert main([str(first), str(second), "-o", str(tmp_path / "libk.so")]) == 1
    assert f"{second}:3: a kernel k is in {first}:3 already" in capsys.readouterr().err


def test_a_kernel_of_a_header_is_there_once(source, tmp_path, capsys):
    header = source("  ((uint8_t*)x)[n] = 1;", "k.h")
    header.write_text(header.read_text().replace('extern "C"', "#pragma once\nstatic"))
    units = [tmp_path / "a.cpp", tmp_path / "b.cpp"]
    for unit in units:
        unit.write_text('#include "k.h"\n')
    output = tmp_path / "libk.so"
    assert main([*map(str, units), "-o", str(output), "--header-dir", str(tmp_path)]) == 0
    assert (tmp_path / "aclrtlaunch_k.h").exists()
    assert b"softnpu_entry_k" in output.read_bytes()


def test_a_folder_that_cannot_be_made_is_named(source, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([str(source("")), "-o", str(tmp_path / "file" / "libk.so")]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("ascendc: ")
    assert str(tmp_path / "file") in printed


def test_a_missing_compiler_is_named(monkeypatch, source, capsys):
    path = str(source(""))
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert main((path,)) == 1
    assert (
        "CXX=no-such-compiler: there is no such program; install g++ 12" in capsys.readouterr().err
    )
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "")
    assert main((path,)) == 1
    assert "there is no C++ compiler (c++, g++, clang++) on PATH" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        ("#define __GNUC__ 9", "is g++ 9, which lacks parts of C++20: g++ 12 is needed"),
        ("", "is no g++ or clang++"),
    ],
)
def test_an_old_compiler_is_named(says, sentence, monkeypatch, source, capsys, tmp_path):
    program = tmp_path / "old"
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("CXX", str(program))
    assert main((str(source("")),)) == 1
    assert sentence in capsys.readouterr().err


def test_bisheng_takes_the_options_of_published_builds(source, tmp_path):
    import torch_npu.ascendc

    package = os.path.dirname(os.path.dirname(torch_npu.ascendc.__file__))
    program = os.path.join(os.environ.get("BISHENG", package), "cann", "bin", "bisheng")
    if not os.path.exists(program):
        from torch_npu.softnpu import lib_dir

        program = str(lib_dir().parents[1] / "cann" / "bin" / "bisheng")
    options = [
        "-x",
        "asc",
        "--npu-arch=dav-2201",
        "-shared",
        "-fPIC",
        "-std=c++17",
        "-D_GLIBCXX_USE_CXX11_ABI=1",
        "-lm",
    ]
    output = tmp_path / "module.abi3.so"
    done = subprocess.run(
        [program, *options, source("", "k.asc"), "-o", output, f"-I{tmp_path}", f"-L{tmp_path}"],
        capture_output=True,
        text=True,
        env={**os.environ, "ASCENDC_PYTHON": sys.executable},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert output.exists()


def test_every_soc_is_one_that_the_plug_in_knows():
    assert SOCS[0] == "Ascend910B1"
    assert len(set(SOCS)) == len(SOCS)


def test_the_headers_of_kernels(vectors):
    text = (vectors.parent / "aclrtlaunch_scale.h").read_text()
    assert (
        "aclrtlaunch_scale(std::uint32_t blocks, void* stream, void* x, void* y, uint32_t count, float factor);"
        in text
    )
    assert "vectors.asc:" in text
    assert '#include "ascendc/types.h"' in (vectors.parent / "aclrtlaunch_mixed.h").read_text()
    assert not (vectors.parent / "aclrtlaunch_scale_of.h").exists()


def test_a_program_of_several_files_runs(driver, vectors, tmp_path):
    main_file = tmp_path / "main.cpp"
    main_file.write_text(
        """
#include <cstdio>
#include "acl/acl.h"
#include "aclrtlaunch_k.h"
int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  void* x = nullptr;
  aclrtMalloc(&x, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  std::printf("%u", ACLRT_LAUNCH_KERNEL(k)(2, nullptr, x, 5u));
  std::printf(" %d", aclrtSynchronizeStream(nullptr));
  int y[2] = {};
  aclrtMemcpy(y, sizeof(y), x, sizeof(y), ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf(" %d %d\\n", y[0], y[1]);
}
"""
    )
    kernel = tmp_path / "k.cpp"
    kernel.write_text(HELLO % "  ((int*)x)[AscendC::GetBlockIdx()] = n + AscendC::GetBlockIdx();")
    done = driver(main_file, kernel, "-O1", "-o", tmp_path / "main")
    assert (done.returncode, done.stderr) == (0, "")
    ran = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "0 0 5 6\n", ran.stderr
