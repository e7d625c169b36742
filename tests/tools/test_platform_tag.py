"""The wheel's platform tag is computed from the symbol versions that its libraries need."""

import platform
import subprocess

import pytest
from dev.platform_tag import needed_versions, oldest_glibc, platform_tag
from dev.run import DevError


def link(folder, name, code, *options):
    (folder / f"{name}.c").write_text(code)
    library = folder / f"lib{name}.so"
    base = ["gcc", "-shared", "-fPIC", "-nostdlib", "-o", library, folder / f"{name}.c"]
    subprocess.run([*base, *options], check=True)
    return library


@pytest.fixture
def library(tmp_path):
    """A library that needs GLIBC_2.5 and GLIBC_2.77 of another one, which also defines GLIBC_2.99."""
    versions = tmp_path / "versions"
    versions.write_text(
        "GLIBC_2.5 { global: old; }; GLIBC_2.77 { global: new; }; GLIBC_2.99 { global: newest; };"
    )
    code = "void old() {} void new() {} void newest() {}"
    needed = link(tmp_path, "c", code, f"-Wl,--version-script={versions}")
    return link(tmp_path, "user", "void old(); void new(); void f() { old(); new(); }", needed)


def test_versions_are_read_from_the_library(library):
    assert needed_versions(library) == {("GLIBC", (2, 5)), ("GLIBC", (2, 77))}


def test_the_tag_has_the_newest_glibc_and_this_machine(library):
    assert platform_tag([library]) == f"manylinux_2_77_{platform.machine()}"


def test_what_a_library_defines_is_no_need(library):
    assert platform_tag([library.with_name("libc.so")]).startswith("manylinux_2_17_")


def test_a_file_that_is_no_library_is_refused(tmp_path):
    (tmp_path / "x.so").write_text("text")
    with pytest.raises(DevError, match=r"objdump cannot read .*x\.so"):
        needed_versions(tmp_path / "x.so")


@pytest.mark.parametrize(
    ("needed", "oldest"),
    [
        ([("GLIBC", (2, 2, 5)), ("GLIBC", (2, 34)), ("GLIBCXX", (3, 4, 30))], (2, 35)),
        ([("GLIBC", (2, 38)), ("GLIBCXX", (3, 4, 30))], (2, 38)),
        ([("GLIBC", (2, 34)), ("CXXABI", (1, 3, 15))], (2, 39)),
        ([("GLIBC", (2, 9))], (2, 17)),
    ],
)
def test_libstdcxx_counts_as_the_glibc_that_comes_with_it(needed, oldest):
    assert oldest_glibc(needed) == oldest


def test_a_libstdcxx_of_the_future_is_refused():
    with pytest.raises(DevError, match=r"GLIBCXX_3\.4\.99 is of a newer libstdc\+\+"):
        oldest_glibc([("GLIBCXX", (3, 4, 99))])
