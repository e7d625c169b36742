"""The model that vllm serves: the packaged one of examples/chat.py, as safetensors."""

import os
import sys
from pathlib import Path

import pytest

# The engine runs in this process: its failures are the tests' own.
os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples"))


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    from serving.weights import export

    folder = tmp_path_factory.mktemp("model") / "SmolLM2-135M-Instruct"
    export(folder)
    return folder
