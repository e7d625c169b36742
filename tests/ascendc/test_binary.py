"""Kernels as binaries: what ACL loads, what MindSpore calls."""

import ctypes
import os
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import torch_npu.ascendc.binary as binary_module
from torch_npu.ascendc.binary import Kernel
from torch_npu.ascendc.compiler import Options, build, opened
from torch_npu.ascendc.errors import AscendcError
from torch_npu.ascendc.paths import installation
from torch_npu.softnpu import lib_dir

from .conftest import KERNELS

VERSION_HEADER = Path(__file__).parents[2] / "softnpu" / "include" / "softnpu" / "kernel_entry.h"


@pytest.fixture(scope="module")
def acl():
    torch.npu.init()
    library = ctypes.CDLL(str(lib_dir() / "libascendcl.so"))
    library.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return library


@pytest.fixture(scope="module")
def binary(acl, vectors):
    """The handle of the library's bytes."""
    data = vectors.read_bytes()
    handle = ctypes.c_void_p()
    assert (
        acl.aclrtBinaryLoadFromData(data, ctypes.c_size_t(len(data)), None, ctypes.byref(handle))
        == 0
    )
    return handle


def function(acl, binary, name):
    handle = ctypes.c_void_p()
    code = acl.aclrtBinaryGetFunction(binary, name.encode(), ctypes.byref(handle))
    return code, handle


def launch(acl, handle, blocks, arguments, *, size=None, places=0):
    return acl.aclrtLaunchKernelWithHostArgs(
        handle,
        ctypes.c_uint32(blocks),
        ctypes.c_void_p(torch.npu.current_stream().npu_stream),
        None,
        arguments,
        ctypes.c_size_t(len(arguments) if size is None else size),
        None,
        ctypes.c_size_t(places),
    )


@pytest.mark.parametrize("padding", [b"", bytes(4)])
def test_a_kernel_is_launched_with_packed_arguments(padding, acl, binary):
    code, handle = function(acl, binary, "scale")
    assert code == 0
    x = torch.arange(256, dtype=torch.float32).npu()
    y = torch.zeros_like(x)
    packed = struct.pack("=QQIf", x.data_ptr(), y.data_ptr(), 256, 2.5)
    assert launch(acl, handle, 3, packed) == 0
    assert torch.equal(y.cpu(), torch.arange(256) * 2.5)


def test_several_binaries_are_apart(acl, vectors, tmp_path):
    """Each has a kernel of the same name."""
    x = torch.zeros(8).npu()
    handles = []
    for value in range(3):
        source = tmp_path / f"same{value}.asc"
        source.write_text(
            '#include "kernel_operator.h"\n'
            'extern "C" __global__ __aicore__ void same(GM_ADDR x) {'
            f" ((__gm__ float*)x)[{value}] = {value + 1}; }}"
        )
        build(Options((source,), ("-O0",)), tmp_path / "same.o")
        data = (tmp_path / "same.o").read_bytes()
        handle = ctypes.c_void_p()
        length = ctypes.c_size_t(len(data))
        assert acl.aclrtBinaryLoadFromData(data, length, None, ctypes.byref(handle)) == 0
        handles.append(handle)
    for handle in handles:
        code, found = function(acl, handle, "same")
        assert code == 0
        assert launch(acl, found, 1, struct.pack("=Q", x.data_ptr())) == 0
    assert x.tolist() == [1, 2, 3, 0, 0, 0, 0, 0]


def test_loaded_binaries_keep_no_descriptor(acl, vectors):
    binary_bytes = vectors.read_bytes()

    def load():
        handle = ctypes.c_void_p()
        length = ctypes.c_size_t(len(binary_bytes))
        assert acl.aclrtBinaryLoadFromData(binary_bytes, length, None, ctypes.byref(handle)) == 0
        return handle.value

    load()
    before = len(os.listdir("/proc/self/fd"))
    handles = {load() for _ in range(20)}
    assert len(handles) == 20
    assert len(os.listdir("/proc/self/fd")) == before


def test_wrong_launches_are_refused(acl, binary):
    _, handle = function(acl, binary, "scale")
    arguments = bytes(24)

    def refused(*given, **named):
        assert launch(acl, *given, **named) != 0
        return acl.aclGetRecentErrMsg().decode()

    assert "kernel scale takes 24 bytes of arguments" in refused(handle, 1, bytes(32))
    assert "kernel scale takes 24 bytes of arguments" in refused(handle, 1, bytes(8))
    assert "launched with 0 blocks" in refused(handle, 0, arguments)
    assert "pass the addresses themselves" in refused(handle, 1, arguments, places=1)
    assert "none that aclrtBinaryGetFunction made" in refused(ctypes.c_void_p(8), 1, arguments)
    assert "funcHandle" in refused(None, 1, arguments)


def test_only_kernels_are_found(acl, binary):
    for name in ("none", "scale_of", "Triple"):
        code, handle = function(acl, binary, name)
        assert code != 0
        assert not handle.value
        assert f"the binary has no kernel {name}" in acl.aclGetRecentErrMsg().decode()
    assert function(acl, ctypes.c_void_p(8), "scale")[0] != 0
    assert "none that aclrtBinaryLoadFromData made" in acl.aclGetRecentErrMsg().decode()


def elf(data, **changes):
    """The bytes with another type or machine in the header of an ELF file."""
    changed = bytearray(data)
    for name, value in changes.items():
        struct.pack_into("<H", changed, {"kind": 16, "machine": 18, "parts": 56}[name], value)
    return bytes(changed)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda data: b"", "the 0 bytes are no binary"),
        (lambda data: b"\x7fELF", "are no binary"),
        (lambda data: b"hello" * 100, "are no binary"),
        (lambda data: elf(data, machine=0x1029), "are a binary for another processor"),
        (lambda data: elf(data, kind=1), "are a binary without kernels of Ascend C"),
        (
            lambda data: data.replace(b"softnpu_entry_", b"softnpu-entry-"),
            "without kernels of Ascend C",
        ),
        (lambda data: data[: data.index(b"softnpu_entry_") + 512], "are the beginning of a binary"),
        (lambda data: elf(data, parts=0xFFFF), "are the beginning of a binary"),
    ],
)
def test_other_bytes_are_refused(change, sentence, acl, vectors):
    data = change(vectors.read_bytes())
    handle = ctypes.c_void_p()
    assert (
        acl.aclrtBinaryLoadFromData(data, ctypes.c_size_t(len(data)), None, ctypes.byref(handle))
        != 0
    )
    assert not handle.value
    message = acl.aclGetRecentErrMsg().decode()
    assert sentence in message
    assert "ascendc" in message


def test_every_type_of_argument_arrives(vectors):
    kernel = Kernel(ctypes.CDLL(str(vectors)), vectors, "mixed")
    assert kernel.parameters == "Pbdeq?E"
    assert (
        len(kernel.pack((0, 0, 0, 0, 0, False, 0))) == 48
    )  # padded at its end, as the C structure
    x = torch.ones(8).npu()
    stream = torch.npu.current_stream().npu_stream
    assert kernel.launch(1, stream, x.data_ptr(), -3, 0.25, 1.5, 1 << 20, True, 2.0) == 0
    assert x.tolist()[:2] == [1 - 3 + 0.25 + 1.5 + (1 << 20) + 0.5 + 2.0, 1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((1, 2), "kernel scale takes 4 arguments, 2 were given"),
        ((1, 2, 2.5, 1.0), "argument 2: an integer is needed, not float"),
        ((1, 2, 3, "a"), "argument 3: a number is needed, not str"),
        ((1, 2, 1 << 32, 1.0), "argument 2: 4294967296 does not fit uint32_t"),
        ((1, 2, -1, 1.0), "argument 2: -1 does not fit uint32_t"),
    ],
)
def test_wrong_arguments_are_refused(arguments, sentence, vectors):
    kernel = Kernel(ctypes.CDLL(str(vectors)), vectors, "scale")
    with pytest.raises(AscendcError, match=sentence):
        kernel.launch(1, 0, *arguments)


def test_a_missing_kernel_and_no_blocks_are_refused(vectors):
    library = ctypes.CDLL(str(vectors))
    with pytest.raises(AscendcError, match="has no kernel none"):
        Kernel(library, vectors, "none")
    with pytest.raises(AscendcError, match="launched with 0 blocks"):
        Kernel(library, vectors, "scale").launch(0, 0, 1, 2, 3, 1.0)


def test_mindspores_function(vectors):
    """``int F(int nparam, void** params, int* ndims, int64_t** shapes, const char** dtypes, void* stream, void* extra)``."""
    function = ctypes.CDLL(str(vectors)).Triple
    x = torch.randn(4, 64)
    x_npu, y_npu = x.npu(), torch.zeros(4, 64).npu()
    params = (ctypes.c_void_p * 2)(x_npu.data_ptr(), y_npu.data_ptr())
    shape = (ctypes.c_int64 * 2)(4, 64)
    shapes = (ctypes.POINTER(ctypes.c_int64) * 2)(shape, shape)
    names = (ctypes.c_char_p * 2)(b"float32", b"float32")
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    assert function(2, params, (ctypes.c_int * 2)(2, 2), shapes, names, stream, None) == 0
    assert torch.equal(y_npu.cpu(), x * 3)


def test_a_failing_kernel_is_an_error_of_the_stream(vectors):
    kernel = Kernel(ctypes.CDLL(str(vectors)), vectors, "fails")
    stream = torch.npu.Stream()
    assert kernel.launch(1, stream.npu_stream, torch.ones(8).npu().data_ptr()) == 0
    with pytest.raises(RuntimeError, match=r"kernel fails.*vectors\.asc:\d+"):
        stream.synchronize()


def test_hosts_functions_choose_a_variant(vectors):
    library = ctypes.CDLL(str(vectors))
    x = torch.zeros(8, dtype=torch.int32).npu()
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    for key, value in ((1, 10), (10_000_000_001, 20)):
        library.choose(ctypes.c_int64(key), stream, ctypes.c_void_p(x.data_ptr()))
        assert x[0].item() == value
    assert Kernel(library, vectors, "variant").launch(1, stream.value, x.data_ptr()) == 0
    assert x[0].item() == 30


def test_the_version_is_that_of_the_header():
    assert f"SOFTNPU_KERNEL_ENTRY_VERSION {binary_module._VERSION}u" in VERSION_HEADER.read_text()


@pytest.fixture(scope="module")
def newer(tmp_path_factory):
    """The library of kernels/vectors.asc, compiled with the headers of the next version."""
    folder = tmp_path_factory.mktemp("newer")
    headers = folder / "include"
    shutil.copytree(installation().kernel_headers, headers)
    text = VERSION_HEADER.read_text()
    own, other = (f"SOFTNPU_KERNEL_ENTRY_VERSION {binary_module._VERSION + i}u" for i in range(2))
    (headers / "softnpu" / "kernel_entry.h").write_text(text.replace(own, other))
    output = folder / "libnewer.so"
    with opened(Options((KERNELS,), ("-O1",))) as result:
        result.installed = replace(result.installed, kernel_headers=headers)
        result.finish(result.prepare(), output)
    return output


ANOTHER_VERSION = (
    f"was compiled with version {binary_module._VERSION + 1} of softnpu's kernel library, this is version"
    f" {binary_module._VERSION}: compile it again"
)


def test_a_kernel_of_another_version_is_not_found(acl, newer):
    with pytest.raises(AscendcError, match=f"kernel scale of .*libnewer.so {ANOTHER_VERSION}"):
        Kernel(ctypes.CDLL(str(newer)), newer, "scale")
    data = newer.read_bytes()
    handle = ctypes.c_void_p()
    length = ctypes.c_size_t(len(data))
    assert acl.aclrtBinaryLoadFromData(data, length, None, ctypes.byref(handle)) == 0
    code, found = function(acl, handle, "scale")
    assert code != 0
    assert not found.value
    assert f"kernel scale {ANOTHER_VERSION}" in acl.aclGetRecentErrMsg().decode()


def test_a_launch_of_another_version_is_refused(acl, newer, capfd):
    library = ctypes.CDLL(str(newer))
    x = torch.zeros(8, dtype=torch.int32).npu()
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    code = library.aclrtlaunch_variant(ctypes.c_uint32(1), stream, ctypes.c_void_p(x.data_ptr()))
    assert code != 0
    assert f"kernel variant {ANOTHER_VERSION}" in acl.aclGetRecentErrMsg().decode()
    library.choose(ctypes.c_int64(1), stream, ctypes.c_void_p(x.data_ptr()))  # <<<>>>
    assert f"kernel variant {ANOTHER_VERSION}" in capfd.readouterr().err
    assert x.tolist() == [0] * 8
