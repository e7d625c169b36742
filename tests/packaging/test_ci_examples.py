"""The workflows of examples/ci: their commands run, in an environment that has the wheel and sees torch."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "examples" / "ci"


def github_commands():
    (job,) = yaml.safe_load((CI / "github.yml").read_text())["jobs"].values()
    return [line for step in job["steps"] for line in step.get("run", "").splitlines()]


def gitlab_commands():
    return yaml.safe_load((CI / "gitlab.yml").read_text())["test"]["script"]


def container_commands():
    lines = (CI / "Containerfile").read_text().splitlines()
    return [line.removeprefix("RUN ") for line in lines if line.startswith("RUN python")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkout of the program with an environment of its own in ``venv``."""
    folder = tmp_path_factory.mktemp("ci")
    shutil.copytree(CI / "program", folder / "program")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    site = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    )
    # pip finds torch and pytest installed, so that nothing is fetched.
    (Path(site.strip()) / "torch_of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.mark.parametrize(
    "commands", [github_commands, gitlab_commands, container_commands], ids=lambda c: c.__name__
)
def test_the_commands_run(folder, commands):
    (wheel,) = (ROOT / "dist").glob("torch_npu-*.whl")
    environment = {
        **os.environ,
        "PATH": f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}",
        "TORCH_NPU": str(wheel),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",  # those of torch are those of the tests' environment
    }
    message = [
        subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True
        )
        for command in commands()
    ]
    for one in message:
        assert one.returncode == 0, f"{one.args}: {one.stdout}{one.stderr}"
    if commands is not container_commands:
        assert "2 passed" in message[-1].stdout


# The schemas that check-jsonschema brings, of GitHub's workflows and of GitLab's.
SCHEMAS = {"github.yml": "github-workflows", "gitlab.yml": "gitlab-ci"}


def checked(path, schema):
    transform = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
    command = ["check-jsonschema", "--builtin-schema", f"vendor.{schema}", *transform, path]
    return subprocess.run(
        [Path(sys.executable).with_name(command[0]), *command[1:]], capture_output=True, text=True
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_workflow_is_what_its_service_takes(name):
    done = checked(CI / name, SCHEMAS[name])
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [("github.yml", "runs-on:", "run-on:"), ("gitlab.yml", "  script:", "  scripts:")],
)
def test_a_misspelled_workflow_is_refused(tmp_path, name, right, wrong):
    text = (CI / name).read_text()
    assert text.count(right) == 1
    (tmp_path / name).write_text(text.replace(right, wrong))
    assert checked(tmp_path / name, SCHEMAS[name]).returncode == 1


def test_the_development_container_names_what_the_checkout_has():
    message = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    for command in message["postCreateCommand"].split(" && "):
        program, verb = command.split()
        assert verb in subprocess.check_output([ROOT / program, "--help"], text=True)
