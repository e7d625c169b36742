"""Programs and modules that are not built by setuptools: one without Python, and one built at run time."""

import subprocess
from pathlib import Path

import pytest
import torch
from torch.utils import cpp_extension as torch_extension

from torch_npu.utils import cpp_extension


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program of program.cpp."""
    built = tmp_path_factory.mktemp("program") / "program"
    source = Path(__file__).with_name("program.cpp")
    included = [*cpp_extension.include_paths(), *torch_extension.include_paths()]
    linked = [*cpp_extension.library_paths(), *torch_extension.library_paths()]
    libraries = ("torch_npu", "ascendcl", "torch", "torch_cpu", "c10")
    command = [
        *("g++", "-std=c++20", "-O0", "-DAT_PER_OPERATOR_HEADERS", str(source), "-o", str(built)),
        *(f"-I{folder}" for folder in included),
        *(f"-L{folder}" for folder in linked),
        *(f"-Wl,-rpath,{folder}" for folder in linked),
        *("-Wl,--no-as-needed", *(f"-l{name}" for name in libraries)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return built


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_program_without_python(program):
    done = run(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "42000 on npu:0\n"


def test_a_device_that_is_no_npu(program):
    done = run(program, "cpu")
    assert done.returncode != 0
    assert "init_npu takes an npu device, not cpu" in done.stderr


MODULE = """
#include <Python.h>
#include <acl/acl.h>
static PyObject* count(PyObject*, PyObject*) {
  uint32_t devices = 0;
  aclrtGetDeviceCount(&devices);
  return PyLong_FromLong(devices);
}
static PyMethodDef methods[] = {{"count", count, METH_NOARGS, nullptr}, {}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "npu_count", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_npu_count() { return PyModule_Create(&definition); }
"""


def test_a_module_is_built_at_run_time(tmp_path):
    source = tmp_path / "count.cpp"
    source.write_text(MODULE)
    module = cpp_extension.load("npu_count", str(source), build_directory=tmp_path)
    assert module.count() == torch.npu.device_count()
    source.write_text("#include <no/such/header.h>\n")
    with pytest.raises(RuntimeError, match="npu_error"):
        cpp_extension.load("npu_error", [str(source)], build_directory=tmp_path)
