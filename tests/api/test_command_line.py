"""The command torch-npu: every tool under one name; the earlier names are the same tools."""

import subprocess
import sys
import tomllib

import pytest
from dev.paths import ROOT

import torch_npu
from torch_npu import _command_line
from torch_npu._command_line import COMMANDS, main


def test_the_installed_command_is_this_one():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["torch-npu"] == "torch_npu._command_line:main"


def test_the_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    message = capsys.readouterr().out
    assert all(
        f"  {name} " in message and command.help in message for name, command in COMMANDS.items()
    )
    assert main([]) == 2
    assert capsys.readouterr().err == message
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"torch_npu {torch_npu.__version__}\n"


def test_an_unknown_command_names_the_closest(capsys):
    assert main(["docter"]) == 2
    assert "there is no command 'docter': did you mean 'doctor'?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["doctor", "env"])
def test_commands_without_arguments_refuse_them(capsys, name):
    assert main([name, "--all"]) == 2
    assert f"torch-npu {name} takes no argument '--all'" in capsys.readouterr().err


def test_doctor_and_env(capsys, monkeypatch):
    monkeypatch.setenv("SOFTNPU_SPLIT", "tune")
    main(["doctor"])
    message = capsys.readouterr().out
    assert "CANN bound" in message
    assert "SOFTNPU_SPLIT    tune\n" in message
    monkeypatch.setattr(_command_line.collect_env, "get_pretty_env_info", lambda: "the report")
    assert main(["env"]) == 0
    assert "the report" in capsys.readouterr().out


def test_variables(capsys, monkeypatch):
    monkeypatch.setenv("SOFTNPU_FUSE", "0")
    assert main(["variables", "softnpu_fuse", "combined"]) == 0
    assert capsys.readouterr().out == (
        "SOFTNPU_FUSE (0, 1; default 1; now 0): 0: no operator fusion: each task runs alone and stores its result\n"
        "COMBINED_ENABLE: no effect: operators read strided tensors in place\n"
    )
    assert main(["variables"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 100
    assert main(["variables", "nothing"]) == 1
    assert "no variable has nothing in its name" in capsys.readouterr().err


def test_paths_and_migrate_are_the_earlier_commands(tmp_path, capsys):
    script = tmp_path / "a.py"
    script.write_text("import torch\ntorch.ones(1).cuda()\n")
    for new, old in (
        (["paths", "--cmake-dir"], ["torch_npu.softnpu", "--cmake-dir"]),
        (["migrate", str(script)], ["torch_npu.tools.migrate", str(script)]),
    ):
        code = main(new)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", *old],
            capture_output=True,
            text=True,
            check=False,
        )
        assert capsys.readouterr().out == done.stdout
        assert done.stdout
        assert code == done.returncode
    with pytest.raises(SystemExit):
        main(["paths"])
    assert "usage: torch-npu paths" in capsys.readouterr().err


def test_ascendc_is_the_driver(capsys):
    assert main(["ascendc", "none.asc", "-o", "none.so"]) == 1
    assert capsys.readouterr().err.startswith("ascendc: ")


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "torch_npu", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"torch_npu {torch_npu.__version__}\n"
