"""torch.npu: devices, the current one, its initialisation and its options."""

import fresh
import pytest
import torch


def npu(*names):
    return pytest.mark.api(*(f"torch.npu.{name}" for name in names))


@npu("init", "is_initialized")
def test_init_makes_the_device_initialised_in_a_new_process():
    code = (
        "import torch; print(torch.npu.is_initialized()); torch.npu.init();"
        "print(torch.npu.is_initialized())"
    )
    assert fresh.output(code).split() == ["False", "True"]


@npu("current_device", "device_count", "is_available")
def test_the_first_device_is_current():
    assert torch.npu.is_available() is True
    assert torch.npu.device_count() >= 1
    assert torch.npu.current_device() == 0


DEVICES = """
import torch
torch.npu.set_device("npu:1")
assert torch.npu.current_device() == torch.zeros(1, device="npu").get_device() == 1
with torch.npu.device(0) as inside:
    assert isinstance(inside, torch.npu.device) or inside is None
    assert torch.npu.current_device() == 0
assert torch.npu.current_device() == 1
with torch.npu.device(None), torch.npu.device(-1):
    assert torch.npu.current_device() == 1
with torch.npu.device_of(torch.zeros(1, device="npu:0")):
    assert torch.npu.current_device() == 0
with torch.npu.device_of(torch.zeros(1)):
    assert torch.npu.current_device() == 1
assert torch.npu.current_device() == 1
for bad in (2, "npu:7"):
    try:
        torch.npu.set_device(bad)
    except RuntimeError:
        pass
    else:
        raise AssertionError(bad)
print("done")
"""


@npu("set_device", "device", "device.__enter__", "device.__exit__", "device_of")
def test_the_current_device_changes_and_comes_back():
    assert fresh.output(DEVICES, SOFTNPU_DEVICE_COUNT="2", SOFTNPU_HBM="1G") == "done"


@npu("synchronize")
def test_synchronize_waits_for_all_streams():
    for stream in (torch.npu.current_stream(), torch.npu.Stream()):
        with torch.npu.stream(stream):
            a = torch.randn(1500, 1500, device="npu")
            for _ in range(3):
                a = a @ a / 40
        torch.npu.synchronize()
        assert stream.query() is True
    with pytest.raises(ValueError, match="Expected a npu device"):
        torch.npu.synchronize("cpu")


@npu("get_device_name", "get_device_properties", "mem_get_info")
def test_what_a_device_says_about_itself():
    name = torch.npu.get_device_name()
    assert name.startswith("Ascend")
    properties = torch.npu.get_device_properties("npu:0")
    free, total = torch.npu.mem_get_info()
    assert properties.name == name == torch.npu.get_device_name(0)
    assert 0 < free <= total <= properties.total_memory
    assert properties.L2_cache_size >= 0
    for only_gpus_have in ("major", "minor", "warp_size", "gcnArchName", "is_multi_gpu_board"):
        assert getattr(properties, only_gpus_have) is None
    with pytest.raises((RuntimeError, AssertionError)):
        torch.npu.get_device_properties(99)


@npu("ipc_collect")
def test_ipc_collect_frees_what_receivers_dropped(monkeypatch):
    from torch_npu import _C

    called = []
    monkeypatch.setattr(_C, "ipc_collect", lambda: called.append(1))
    torch.npu.ipc_collect()
    assert called == [1]


@npu("get_task_queue_enable", "set_task_queue_enable")
def test_the_level_of_the_task_queue():
    before = torch.npu.get_task_queue_enable()
    try:
        for level in (1, 2, 0):
            torch.npu.set_task_queue_enable(level)
            assert torch.npu.get_task_queue_enable() == level
            assert (torch.ones(2, device="npu") + 1).tolist() == [2.0, 2.0]
    finally:
        torch.npu.set_task_queue_enable(before)


@npu("set_op_timeout_ms")
def test_the_timeout_of_operators_is_given_to_cann(monkeypatch):
    from torch_npu import _C

    given = []
    monkeypatch.setattr(_C, "set_operator_timeout", given.append)
    torch.npu.set_op_timeout_ms(5000)
    assert given == [5000]


@npu("matmul", "matmul.allow_hf32", "matmul.cube_math_type", "conv", "conv.allow_hf32")
@npu("config", "config.allow_internal_format")
def test_settings_keep_their_values():
    places = [
        (torch.npu.matmul, "allow_hf32", (True, False)),
        (torch.npu.conv, "allow_hf32", (False, True)),
        (torch.npu.config, "allow_internal_format", (True, False)),
        (torch.npu.matmul, "cube_math_type", tuple(torch.npu.CubeMathType)),
    ]
    for location, name, values in places:
        before = getattr(location, name)
        try:
            for value in values:
                setattr(location, name, value)
                assert getattr(location, name) == value
        finally:
            setattr(location, name, before)


MEMBERS = {
    "KEEP_DTYPE": 0,
    "ALLOW_FP32_DOWN_PRECISION": 1,
    "USE_FP16": 2,
    "USE_HF32": 3,
}


@npu("CubeMathType", *(f"CubeMathType.{name}" for name in (*MEMBERS, "USE_FP32_ADD")))
def test_the_numbers_of_cube_math_types():
    assert {name: getattr(torch.npu.CubeMathType, name) for name in MEMBERS} == MEMBERS
    assert len(MEMBERS) == torch.npu.CubeMathType.USE_FP32_ADD
    assert torch.npu.CubeMathType(3) is torch.npu.CubeMathType.USE_HF32
