"""torch_npu.profiler.dynamic_profile: a file that starts profiles of a running program."""

import dataclasses
import json

import pytest
import torch

from torch_npu.profiler import dynamic_profile


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(dynamic_profile, "_state", dynamic_profile._State())


def change(folder, **values):
    file = folder / dynamic_profile.FILE
    values.setdefault("prof_dir", str(folder))
    file.write_text(json.dumps({**dynamic_profile.TEMPLATE, **values}))


def work():
    return (torch.ones(4, device="npu") + 1).sum().item()


def test_a_changed_file_starts_a_profile_of_its_steps(tmp_path):
    dynamic_profile.init(str(tmp_path))
    assert json.loads((tmp_path / dynamic_profile.FILE).read_text()) == dynamic_profile.TEMPLATE
    work()
    dynamic_profile.step()
    assert not list(tmp_path.glob("*_ascend_pt"))
    change(tmp_path, active=2, metadata={"model": "llama"})
    for _ in range(5):
        work()
        dynamic_profile.step()
    (run,) = tmp_path.glob("*_ascend_pt")
    assert dynamic_profile._state == dataclasses.replace(
        dynamic_profile._State(),
        file=tmp_path / dynamic_profile.FILE,
        step=6,
        seen=dynamic_profile._state.seen,
    )
    assert json.loads((run / "profiler_metadata.json").read_text())["model"] == "llama"


def test_it_waits_for_its_step(tmp_path):
    dynamic_profile.init(str(tmp_path))
    change(tmp_path, start_step=3)
    for _ in range(2):
        dynamic_profile.step()
        assert dynamic_profile._state.running is None
    dynamic_profile.step()
    assert dynamic_profile._state.running is not None
    with pytest.raises(RuntimeError, match="a profile goes on: it ends after 1 steps"):
        dynamic_profile.start()
    dynamic_profile.step()
    assert dynamic_profile._state.running is None


def test_other_ranks_record_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    dynamic_profile.init(str(tmp_path))
    change(tmp_path, is_rank=True, rank_list=[0])
    dynamic_profile.start()
    assert dynamic_profile._state.running is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no configuration of a profile"),
        ("[]", "it holds no object"),
        ('{"aktiv": 1}', "unknown key 'aktiv'"),
        ('{"active": "2"}', "active is '2', not a int"),
        ('{"activities": ["GPU"]}', "unknown activity GPU: there are CPU, NPU"),
        ('{"experimental_config": {"level": 1}}', "experimental_config: .*level"),
    ],
)
def test_bad_files(tmp_path, text, message):
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        dynamic_profile.start(str(file))


def test_a_bad_file_does_not_end_the_program(tmp_path):
    dynamic_profile.init(str(tmp_path))
    file = tmp_path / dynamic_profile.FILE
    file.write_text('{"active": ')  # half of what an editor writes
    with pytest.warns(UserWarning, match="no profile begins: .*is no configuration"):
        dynamic_profile.step()
    dynamic_profile.step()  # says it once
    change(tmp_path)
    dynamic_profile.step()
    assert dynamic_profile._state.running is not None
    dynamic_profile.step()


def test_a_file_of_another_process_stays(tmp_path):
    change(tmp_path, active=7)
    dynamic_profile._write_template(tmp_path / dynamic_profile.FILE)
    dynamic_profile.init(str(tmp_path))
    assert json.loads((tmp_path / dynamic_profile.FILE).read_text())["active"] == 7
    assert [p.name for p in tmp_path.iterdir()] == [dynamic_profile.FILE]


def test_calls_without_a_file(tmp_path):
    with pytest.raises(ValueError, match="is no folder"):
        dynamic_profile.init(str(tmp_path / "missing"))
    with pytest.raises(RuntimeError, match=r"needs dynamic_profile\.init"):
        dynamic_profile.step()
    with pytest.raises(RuntimeError, match="needs a file"):
        dynamic_profile.start()
