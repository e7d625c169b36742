"""The wheel's platform tag: the symbols that its libraries need, as auditwheel's policies know them."""

import platform
import subprocess
import zipfile

import pytest
from dev.run import DevError
from dev.wheel import wheel_tag

# memcpy of glibc 2.14 and 2.2.5, and a function of glibc 2.33.
OLD = "void *memcpy(void *, const void *, unsigned long);\nvoid *f(void *p) { return memcpy(p, p, 8); }"
NEW = "int stat(const char *, void *);\nint f(void *p) { return stat(0, p); }"


def shared(folder, name, code, *options):
    (folder / f"{name}.c").write_text(code)
    library = folder / f"{name}.so"
    base = ["gcc", "-shared", "-fPIC", "-fno-builtin", "-o", library, folder / f"{name}.c"]
    subprocess.run([*base, *options], check=True)
    return library


def wheel(folder, *libraries):
    path = folder / f"torch_npu-1.0-cp311-cp311-linux_{platform.machine()}.whl"
    info = "torch_npu-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        for library in libraries:
            file.write(library, f"torch_npu/{library.name}")
        tag = f"Tag: cp311-cp311-linux_{platform.machine()}"
        file.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\n{tag}\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: torch-npu\nVersion: 1.0\n")
        rows = "".join(f"torch_npu/{library.name},,\n" for library in libraries)
        file.writestr(f"{info}/RECORD", rows)
    return path


def glibc(tag):
    name, major, minor, machine = tag.split("_", 3)
    assert (name, machine) == ("manylinux", platform.machine())
    return int(major), int(minor)


def test_the_newest_symbol_of_all_libraries_decides(tmp_path):
    old, new = shared(tmp_path, "old", OLD), shared(tmp_path, "new", NEW)
    assert glibc(wheel_tag(wheel(tmp_path, old))) < (2, 33)
    assert glibc(wheel_tag(wheel(tmp_path, old, new))) >= (2, 33)


def test_torchs_libraries_are_not_the_wheels(tmp_path):
    shared(tmp_path, "libtorch_cpu", "void g() {}", "-Wl,-soname,libtorch_cpu.so")
    code = OLD + "\nvoid g();\nvoid h() { g(); }"
    user = shared(tmp_path, "user", code, f"-L{tmp_path}", "-l:libtorch_cpu.so")
    assert glibc(wheel_tag(wheel(tmp_path, user))) < (2, 33)


def test_a_library_that_nobody_has_is_named(tmp_path):
    shared(tmp_path, "libstranger", "void g() {}", "-Wl,-soname,libstranger.so.1")
    code = OLD + "\nvoid g();\nvoid h() { g(); }"
    user = shared(tmp_path, "user", code, f"-L{tmp_path}", "-l:libstranger.so")
    with pytest.raises(DevError, match=r"needs libstranger\.so\.1, which it does not have"):
        wheel_tag(wheel(tmp_path, user))


def test_symbols_of_no_known_system_are_refused(tmp_path):
    versions = tmp_path / "versions"
    versions.write_text("GLIBC_2.99 { global: newest; };")
    newest = f"-Wl,-soname,libc.so.6,--version-script={versions}"
    shared(tmp_path, "libc_of_the_future", "void newest() {}", "-nostdlib", newest)
    code = "void newest();\nvoid f() { newest(); }"
    options = ("-nostdlib", f"-L{tmp_path}", "-l:libc_of_the_future.so")
    with pytest.raises(DevError, match=r"finds no tag .*GLIBC_2\.99"):
        wheel_tag(wheel(tmp_path, shared(tmp_path, "user", code, *options)))


def test_a_file_that_is_no_library_is_refused(tmp_path):
    (tmp_path / "x.so").write_text("text")
    with pytest.raises(DevError, match=r"finds no tag .*it has no library"):
        wheel_tag(wheel(tmp_path, tmp_path / "x.so"))
