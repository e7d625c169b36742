from codegen.headers import main


def _run(tmp_path):
    folders = {name: tmp_path / name for name in ("source", "toolkit")}
    arguments = [f"--{name}={path}" for name, path in folders.items()]
    output = tmp_path / "package" / "include"
    assert main([*arguments, f"--generated={tmp_path / 'Functions.h'}", f"--output={output}"]) == 0
    return output


def _sources(tmp_path):
    for name in ("source/torch_npu/a.h", "toolkit/acl/acl.h", "Functions.h"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {name}\n")


def test_headers_have_their_paths(tmp_path):
    _sources(tmp_path)
    output = _run(tmp_path)
    assert (output / "torch_npu" / "a.h").read_text() == "// source/torch_npu/a.h\n"
    generated = output / "torch_npu" / "csrc" / "aten" / "GeneratedFunctions.h"
    assert generated.read_text() == "// Functions.h\n"


def test_cann_has_one_copy(tmp_path):
    _sources(tmp_path)
    forwarder = _run(tmp_path) / "third_party" / "acl" / "inc" / "acl" / "acl.h"
    once, _, include = forwarder.read_text().splitlines()
    assert once == "#pragma once"
    target = include.removeprefix('#include "').removesuffix('"')
    assert (forwarder.parent / target).resolve() == tmp_path / "toolkit" / "acl" / "acl.h"


def test_what_is_unchanged_stays_and_what_is_gone_is_removed(tmp_path):
    _sources(tmp_path)
    output = _run(tmp_path)
    kept = output / "torch_npu" / "a.h"
    before = kept.stat().st_mtime_ns
    (output / "old.h").write_text("")
    _run(tmp_path)
    assert kept.stat().st_mtime_ns == before
    assert not (output / "old.h").exists()
