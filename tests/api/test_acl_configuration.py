"""TORCH_ACL_INIT_CONFIG_PATH: which files the start of the device accepts, and the official texts for the others."""

import fresh
import pytest

from torch_npu.npu._acl_configuration import check

DEFAULT = '"defaultDevice": {"default_device": "0"}'
WHOLE = f"{{{DEFAULT}}}"
WITH_DUMP = f'{{"dump": {{"dump_scene": "lite_exception"}}, {DEFAULT}}}'
ENTRIES = {
    "whole": (WHOLE, ""),
    "with a dump": (WITH_DUMP, ""),
    "no JSON": ("not a json{{{", "Failed to parse user acl json"),
    "empty": ("", "Failed to parse user acl json"),
    "no device": ('{"dump": {}}', "lacks 'defaultDevice'"),
    "another device": ('{"defaultDevice": {"default_device": "1"}}', "requires 'defaultDevice.default_device' to be \"0\""),
    "a text": ('{"defaultDevice": "0"}', "lacks 'defaultDevice'"),
    "a list": ("[1]", "lacks 'defaultDevice'"),
}  # fmt: skip
START = "import torch; torch.npu.set_device(0); print((torch.ones(2, device='npu') + 1).tolist())"


def started(path) -> tuple[str, str]:
    result = fresh.run(START, TORCH_ACL_INIT_CONFIG_PATH=str(path))
    return result.stdout.strip(), result.stderr


@pytest.mark.parametrize("name", ENTRIES)
def test_a_file_is_accepted_or_its_fault_is_named(name, tmp_path):
    text, fault = ENTRIES[name]
    path = tmp_path / "acl.json"
    path.write_text(text)
    found = check(str(path), is_lazy=True)
    assert (found.file == str(path)) == (fault == "")
    assert fault in found.error
    assert bool(found.error) == bool(fault)


def test_the_start_of_the_device_raises(tmp_path):
    path = tmp_path / "acl.json"
    path.write_text("{")
    output, errors = started(path)
    assert output == ""
    assert "RuntimeError: Failed to parse user acl json" in errors
    assert "ERR00009 PTA resource unavailable" in errors
    output, errors = started(tmp_path / "none.json")
    assert output == ""
    assert "is invalid" in errors


def test_a_program_runs_with_a_file(tmp_path):
    path = tmp_path / "acl.json"
    path.write_text(WHOLE)
    assert started(path) == ("[2.0, 2.0]", "")
    path.write_text(WITH_DUMP)
    output, errors = started(path)
    assert output == "[2.0, 2.0]"
    assert "dump of" in errors
    assert "has no effect on a software NPU" in errors


def test_earlier_runtimes_take_no_device_from_it(tmp_path):
    path = tmp_path / "acl.json"
    path.write_text('{"dump": {}}')
    assert check(str(path), is_lazy=False).error == ""
    path.write_text(WHOLE)
    assert "contains 'defaultDevice'" in check(str(path), is_lazy=False).error
