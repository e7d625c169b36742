"""Recently changed folders under AddressSanitizer: what is compiled, linked and run."""

from pathlib import Path

from dev.paths import ROOT
from dev.recent import PROGRAMS, affected, folders, in_order, instrumented, programs, steps

PRINTED = r"""
cd /c/build && /usr/bin/python3 -m softnpu.opgen --output x
/usr/bin/ccache /usr/bin/c++ -DHWY_DISABLED_TARGETS=6144 -O3 -Winvalid-pch -include /c/build/pch.hxx -MF x.d -o a/x.o -c /c/softnpu/ops/nn/conv/x.cpp
/usr/bin/c++ -O3 -o a/y.o -c /c/softnpu/base/y.cpp
: && /usr/bin/cmake -E rm -f a/liby.a && /usr/bin/ar qc a/liby.a a/y.o && /usr/bin/ranlib a/liby.a && :
: && /usr/bin/c++ -shared -o lib/libx.so a/x.o -Wl,-rpath,/c/build/lib: a/liby.a && :
: && /usr/bin/c++ -o lib/libz.so a/z.o -Wl,-rpath,"\$ORIGIN" && :
: && /usr/bin/c++ -o tests/softnpu_tests a/t.o lib/libz.so && cd /c/build && /usr/bin/cmake -P Discover.cmake
"""


def found():
    return {step.result: step for step in steps(PRINTED, Path("/c"))}


def test_compilations_and_links_are_read():
    assert {result: step.source for result, step in found().items()} == {
        "a/x.o": "softnpu/ops/nn/conv/x.cpp",
        "a/y.o": "softnpu/base/y.cpp",
        "a/liby.a": "",
        "lib/libx.so": "",
        "lib/libz.so": "",
        "tests/softnpu_tests": "",
    }
    assert found()["tests/softnpu_tests"].words[-1] == "lib/libz.so"
    assert found()["lib/libz.so"].words[-1] == "-Wl,-rpath,$ORIGIN"


def test_what_depends_on_an_instrumented_object_is_linked_and_so_are_the_tests():
    def linked(*objects):
        steps_of_links = affected(list(found().values()), set(objects), ["softnpu_tests"])
        return [step.result for step in steps_of_links]

    assert linked("a/x.o") == ["lib/libx.so", "tests/softnpu_tests"]
    assert linked("a/y.o") == ["a/liby.a", "lib/libx.so", "tests/softnpu_tests"]
    assert linked() == ["tests/softnpu_tests"]


def test_a_command_reads_other_objects_from_the_build(tmp_path):
    build, folder = tmp_path / "build", tmp_path / "build-recent"
    (build / "a").mkdir(parents=True)
    (build / "a" / "liby.a").touch()
    step = found()["lib/libx.so"]
    words = instrumented(step, {"lib/libx.so", "a/x.o"}, build, folder)
    assert words[:5] == ["/usr/bin/c++", "-shared", "-o", "lib/libx.so", "a/x.o"]
    assert str(build / "a" / "liby.a") in words
    assert "-fsanitize=address" in words


def test_a_compilation_reads_no_precompiled_header(tmp_path):
    words = instrumented(found()["a/x.o"], {"a/x.o"}, tmp_path, tmp_path)
    assert not {"-include", "/c/build/pch.hxx", "-Winvalid-pch"} & set(words)
    assert words[-1] == "-Og"
    assert "-DHWY_DISABLED_TARGETS=6400" in words


def test_libraries_are_searched_beside_instrumented_ones_first():
    words = instrumented(found()["lib/libx.so"], set(), Path("/c/build"), Path("/c/other"))
    assert "-Wl,-rpath,/c/other/lib:/c/build/lib" in words


def test_folders_that_changed_and_their_tests():
    chosen = folders(
        [
            "softnpu/ops/nn/conv/x.cpp",
            "softnpu/ccl/y.h",
            "softnpu/ops/nn/softmax/operators.txt",
            "softnpu/ascendc/z.cpp",
            "torch_npu/csrc/core/a.cpp",
        ]
    )
    assert chosen == {"softnpu/ops/nn/conv", "softnpu/ccl"}
    assert programs(chosen) == ["softnpu_ccl_tests", "softnpu_operator_fuzz_tests", "softnpu_tests"]


def test_what_the_sanitizer_needs_comes_first_and_then_what_changed():
    sources = [
        "softnpu/base/log.cpp",
        "softnpu/ccl/api.cpp",
        "softnpu/ccl/member.cpp",
        "softnpu/runtime/memory/heap.cpp",
        "softnpu/tests/settings_test.cpp",
        "softnpu/tests/red_zone_test.cpp",
    ]
    printed = "\n".join(f"c++ -o {source}.o -c {ROOT}/{source}" for source in sources)
    found = in_order(steps(printed), {"softnpu/ccl"}, {"softnpu/ccl/member.cpp"})
    assert [step.source for step in found] == [
        "softnpu/runtime/memory/heap.cpp",
        "softnpu/tests/red_zone_test.cpp",
        "softnpu/ccl/member.cpp",
        "softnpu/ccl/api.cpp",
    ]


def test_the_folders_with_tests_exist():
    assert all((ROOT / folder).is_dir() for folder in PROGRAMS)
    text = (ROOT / "softnpu" / "tests" / "CMakeLists.txt").read_text()
    assert all(test in text for tests in PROGRAMS.values() for test in tests)
