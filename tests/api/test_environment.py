"""Every environment variable of the official torch_npu is honoured, or warned about with the reason."""

import re
import warnings
from pathlib import Path

import fresh
import pytest
import torch

from torch_npu._core import environment
from torch_npu._core.environment import ignored

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = list(environment.VARIABLES.values())
# Section 1 of the official plug-in's facts, and its own list of variables.
OFFICIAL = [
    "TASK_QUEUE_ENABLE",
    "ASCEND_LAUNCH_BLOCKING",
    "PER_STREAM_QUEUE",
    "COMBINED_ENABLE",
    "INF_NAN_MODE_ENABLE",
    "INF_NAN_MODE_FORCE_DISABLE",
    "TORCH_ACL_INIT_CONFIG_PATH",
    "TORCH_NPU_FALLBACK_CPU_DISABLE",
    "TORCH_NPU_USE_COMPATIBLE_IMPL",
    "TORCH_NPU_LEGACY_IMPL_LIST",
    "ACL_OP_COMPILER_CACHE_DIR",
    "ACL_OP_COMPILER_CACHE_MODE",
    "ACL_OP_INIT_MODE",
    "PYTORCH_NPU_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_NO_NPU_MEMORY_CACHING",
    "MULTI_STREAM_MEMORY_REUSE",
    "OOM_SNAPSHOT_ENABLE",
    "OOM_SNAPSHOT_PATH",
    "TORCH_NPUGRAPH_GC",
    "STREAMS_PER_DEVICE",
    "TORCH_NPU_DEVICE_CAPABILITY",
    "TORCH_TRANSFER_TO_NPU",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ACL_DEVICE_SYNC_TIMEOUT",
    "ACL_STREAM_TIMEOUT",
    "TORCH_HCCL_ASYNC_ERROR_HANDLING",
    "TORCH_HCCL_BLOCKING_WAIT",
    "TORCH_HCCL_DESYNC_DEBUG",
    "TORCH_HCCL_ZERO_COPY",
    "TORCH_HCCL_HEARTBEAT_TIMEOUT_SEC",
    "TORCH_HCCL_ENABLE_MONITORING",
    "TORCH_HCCL_DUMP_ON_TIMEOUT",
    "TORCH_HCCL_TRACE_BUFFER_SIZE",
    "TORCH_HCCL_STATUS_SAVE_ENABLE",
    "HCCL_CONNECT_TIMEOUT",
    "HCCL_EXEC_TIMEOUT",
    "HCCL_EVENT_TIMEOUT",
    "HCCL_BUFFSIZE",
    "P2P_HCCL_BUFFSIZE",
    "RANK_TABLE_FILE",
    "TORCH_NPU_LOGS",
    "TORCH_NPU_LOGS_FILTER",
    "TORCH_NPU_COMPACT_ERROR_OUTPUT",
    "TORCH_NPU_WARNING_DISABLE",
    "TORCH_NPU_DISABLED_WARNING",
    "ASCEND_GLOBAL_LOG_LEVEL",
    "CPU_AFFINITY_CONF",
    "TORCH_NPU_LAZY_FUSION",
    "PROF_CONFIG_PATH",
    "KINETO_USE_DAEMON",
    "NPU_ASD_ENABLE",
    "NPU_ASD_CONFIG",
    "NPU_ASD_UPPER_THRESH",
    "NPU_ASD_SIGMA_THRESH",
    "TORCHINDUCTOR_NPU_BACKEND",
    "NPU_INDUCTOR_FALLBACK_LIST",
    "INDUCTOR_ASCEND_CHECK_ACCURACY",
    "TORCHINDUCTOR_ENABLE_MFUSION",
    "TORCHINDUCTOR_USE_AKG",
    "TORCH_NPU_SANITIZER",
]
EACH = pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: variable.name)


def variables_of(name):
    return [
        v
        for v in VARIABLES
        if name == v.name or (v.name.endswith("*") and name.startswith(v.name[:-1]))
    ]


@pytest.mark.parametrize("name", OFFICIAL)
def test_every_official_variable_is_in_the_table(name):
    assert len(variables_of(name)) == 1


@pytest.mark.parametrize(
    ("read", "name", "values"),
    [
        (environment.flag, "FORCE_OVERFLOW_CHECK", {"": False, "0": False, "1": True}),
        (environment.flag, "INF_NAN_MODE_ENABLE", {"": True, "0": False}),
        (environment.choice, "TORCH_NPU_CANN", {"": "auto", "system": "system"}),
        (environment.choice, "SOFTNPU_CPU_CAPABILITY", {"": "", "avx2": "avx2"}),
        (environment.integer, "SEED", {"": 666, "0": 0, "4294967295": 2**32 - 1}),
        (environment.pair, "NPU_ASD_SIGMA_THRESH", {"": (100_000, 5_000), "9, 4": (9, 4)}),
        (environment.text, "OOM_SNAPSHOT_PATH", {"": ".", " a b ": " a b "}),
        (environment.is_set, "RANK", {"": False, "0": True}),
    ],
)
def test_values_of_each_type(monkeypatch, read, name, values):
    monkeypatch.delenv(name, raising=False)
    assert read(name) == values[""]
    for text, value in values.items():
        monkeypatch.setenv(name, text)
        assert read(name) == value


@pytest.mark.parametrize(
    ("read", "name", "texts", "allowed"),
    [
        (environment.flag, "FORCE_OVERFLOW_CHECK", ["yes", "2", " 1", "01"], "0 or 1"),
        (environment.choice, "TORCH_NPU_CANN", ["best", "AUTO", "auto, softnpu"], "auto, softnpu or system"),
        (environment.integer, "SEED", ["-1", "1.0", "x", "4294967296", "²"], "0 to 4294967295"),
        (environment.pair, "NPU_ASD_UPPER_THRESH", ["3", "3,2,1", "3,x", ","], "two whole numbers with a comma between"),
    ],
)  # fmt: skip
def test_a_bad_value_is_one_error(monkeypatch, read, name, texts, allowed):
    for text in texts:
        monkeypatch.setenv(name, text)
        with pytest.raises(environment.VariableError) as raised:
            read(name)
        assert str(raised.value) == f"{name}={text} is not understood: it takes {allowed}"


def test_a_variable_is_read_as_its_row_says():
    with pytest.raises(TypeError, match="SEED is read as flag, and its row says integer"):
        environment.flag("SEED")
    with pytest.raises(KeyError):
        environment.flag("TORCH_NPU_UNKNOWN")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("OOM_SNAPSHOT_ENABLE", "yes", "0, 1 or 2"),
        ("TORCH_NPU_USE_COMPATIBLE_IMPL", "on", "0 or 1"),
    ],
)
def test_a_bad_value_ends_the_import_of_torch_npu_and_not_that_of_torch(name, value, allowed):
    text = f"{name}={value} is not understood: it takes {allowed}"
    result = fresh.run("import torch_npu", **{name: value})
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"torch_npu._load.LoadError: {text}"
    program = "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())"
    assert fresh.output(program, **{name: value}) == f"False {text}"


def test_variables_that_are_set_are_listed(monkeypatch):
    monkeypatch.setenv("SOFTNPU_SPLIT", "tune")
    monkeypatch.setenv("SOFTNPU_TUNE", "")
    monkeypatch.setenv("HCCL_ALGO", "ring")
    names = [name for name, _ in environment.all_set()]
    assert ("SOFTNPU_SPLIT", "tune") in environment.all_set()
    assert "SOFTNPU_TUNE" not in names
    assert "HCCL_ALGO" not in names


@EACH
def test_only_variables_without_effect_give_a_sentence(variable):
    name = variable.name.replace("*", "X")
    assert ignored({}) == []
    expected = [f"{name}=1 has no effect: {variable.reason}"] if variable.reason else []
    assert ignored({name: "1", "PATH": "/bin"}) == expected


def test_a_variable_is_warned_about_once_at_import():
    program = "import torch, torch_npu; torch.ones(1, device='npu') + 1"
    result = fresh.run(program, COMBINED_ENABLE="1", HCCL_BUFFSIZE="200", TASK_QUEUE_ENABLE="1")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("COMBINED_ENABLE=1 has no effect: operators read strided") == 1
    assert result.stderr.count("HCCL_BUFFSIZE=200 has no effect: ranks read") == 1
    assert "TASK_QUEUE_ENABLE" not in result.stderr


def test_a_value_that_a_variable_does_not_take_is_named():
    (text,) = ignored({"ACL_OP_INIT_MODE": "999"})
    assert text.startswith("Get env ACL_OP_INIT_MODE not in [0, 1, 2]. ACL_OP_INIT_MODE=999 has no")
    (text,) = ignored({"ACL_OP_INIT_MODE": "2"})
    assert text.startswith("ACL_OP_INIT_MODE=2 has no effect")


@pytest.mark.parametrize(
    ("value", "streams", "warnings_"), [("8", 8, 0), ("32", 32, 0), ("7", 32, 1), ("", 32, 0)]
)
def test_streams_per_device(value, streams, warnings_):
    program = "import torch; print(len({torch.npu.Stream().stream_id for _ in range(64)}))"
    result = fresh.run(program, STREAMS_PER_DEVICE=value)
    assert result.stdout.strip() == str(streams)
    text = "STREAMS_PER_DEVICE=7 is not understood: it takes 8 or 32; the default serves: 32"
    assert result.stderr.count(text) == warnings_


# The gate keeps a stream busy until it is opened; no other limit ends the waits.
BUSY = """
import sys, time, torch
from tests.gated import Gate
with Gate(torch.npu.current_stream()):
    work = torch.ones(3, device="npu") + 1
    start = time.monotonic()
    try:
        {"stream": torch.npu.current_stream().synchronize, "device": torch.npu.synchronize}[sys.argv[1]]()
        print("no error")
    except RuntimeError as error:
        print(time.monotonic() - start >= float(sys.argv[2]), str(error).splitlines()[0])
torch.npu.synchronize()
print(work.tolist())
"""


@pytest.mark.parametrize(
    ("what", "variable", "value", "seconds"),
    [("stream", "ACL_STREAM_TIMEOUT", "250", 0.25), ("device", "ACL_DEVICE_SYNC_TIMEOUT", "1", 1)],
)
def test_waits_have_a_limit(what, variable, value, seconds):
    lines = fresh.output(BUSY, what, str(seconds), cwd=str(ROOT), **{variable: value}).splitlines()
    assert lines[0].startswith("True ")
    assert "no error" not in lines[0]
    assert lines[1] == "[2.0, 2.0, 2.0]"


def test_a_limit_of_the_device_is_positive():
    program = "import torch; torch.ones(1, device='npu'); torch.npu.synchronize()"
    for value in ("0", "-3", "abc"):
        result = fresh.run(program, ACL_DEVICE_SYNC_TIMEOUT=value)
        assert "ACL_DEVICE_SYNC_TIMEOUT must be positive" in result.stderr
        assert "ERR00003 PTA invalid value" in result.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("TORCH_NPU_WARNING_DISABLE", "1"), ("TORCH_NPU_DISABLED_WARNING", "1"), ("RANK", "3")],
)
def test_warnings_can_be_switched_off(name, value, monkeypatch):
    with pytest.warns(UserWarning, match="You can set the device capability"):
        torch.npu.get_device_capability()
    monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.npu.get_device_capability() is None


def test_nothing_is_warned_about_at_import_if_that_is_forbidden():
    program = "import torch; torch.npu.get_device_capability(); print('done')"
    quiet = fresh.run(program, COMBINED_ENABLE="1", TORCH_NPU_WARNING_DISABLE="1")
    assert (quiet.stdout.strip(), quiet.stderr) == ("done", "")


def test_transfer_to_npu_takes_0_and_1():
    result = fresh.run("import torch_npu", TORCH_TRANSFER_TO_NPU="yes")
    assert result.returncode != 0
    assert re.search("TORCH_TRANSFER_TO_NPU[:=] ?yes", result.stderr)
