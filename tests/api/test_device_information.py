"""Versions, the SoC, capabilities, self-test, obfuscation, generators, numbers of dtypes."""

import inspect
from types import SimpleNamespace

import fresh
import pytest
import torch

import torch_npu
from torch_npu.npu import soc


@pytest.mark.api(
    "torch.npu.get_soc_version",
    "torch.npu.utils.get_soc_version",
    "torch_npu.npu.soc.get_soc_version",
)
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("Ascend910B1", 220),
        ("Ascend910B4-1", 225),
        ("Ascend910_9391", 250),
        ("Ascend310P3", 202),
        ("Ascend950", 260),
    ],
)
def test_the_soc_has_the_official_number(name, number, monkeypatch):
    monkeypatch.setattr(soc.state, "native", lambda: SimpleNamespace(soc_name=lambda: name))
    assert torch.npu.get_soc_version() == torch.npu.utils.get_soc_version() == number


def test_the_number_is_that_of_the_chosen_soc():
    program = "import torch; print(torch.npu.get_soc_version())"
    assert fresh.output(program, SOFTNPU_SOC="Ascend910B3") == "223"


def test_a_soc_without_a_number_is_refused(monkeypatch):
    monkeypatch.setattr(soc.state, "native", lambda: SimpleNamespace(soc_name=lambda: "Ascend1"))
    with pytest.raises(RuntimeError, match="Unsupported soc version: Ascend1"):
        torch.npu.get_soc_version()


@pytest.mark.api("torch.npu.utils.get_cann_version")
def test_every_package_has_cann_s_version():
    version = torch.npu.utils.get_cann_version()
    assert version.count(".") >= 2
    assert torch.npu.utils.get_cann_version("OPP_KERNEL") == version
    with pytest.raises(ValueError, match="knows no 'TBE'"):
        torch.npu.utils.get_cann_version("TBE")
    assert torch.npu.utils._is_gte_cann_version("7.0.RC1")
    assert torch.npu.utils._is_gte_cann_version(version)
    assert not torch.npu.utils._is_gte_cann_version("99.0.0", "HCCL")


@pytest.mark.api("torch.npu.get_device_capability")
def test_the_capability_is_the_variables(monkeypatch):
    with pytest.warns(UserWarning, match="You can set the device capability"):
        assert torch.npu.get_device_capability() is None
    monkeypatch.setenv("TORCH_NPU_DEVICE_CAPABILITY", "8.0")
    with pytest.warns(UserWarning, match="does not represent the actual capability"):
        assert torch.npu.get_device_capability(0) == (8, 0)
    monkeypatch.setenv("TORCH_NPU_DEVICE_CAPABILITY", "eight")
    with pytest.warns(UserWarning, match="can't parse"):
        assert torch.npu.get_device_capability() is None


@pytest.mark.api("torch.npu.can_device_access_peer")
def test_devices_of_a_process_see_each_others_memory():
    program = """
import torch
print(torch.npu.can_device_access_peer(0, 1), torch.npu.can_device_access_peer("npu:1", "npu:1"))
"""
    assert fresh.output(program, SOFTNPU_DEVICE_COUNT="2") == "True False"
    with pytest.raises(AssertionError, match="Invalid peer device id: npu:99"):
        torch.npu.can_device_access_peer(0, 99)
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.npu.can_device_access_peer(-1, 0)


@pytest.mark.api("torch.npu.current_blas_handle", "torch.npu.utils.current_blas_handle")
def test_there_is_no_blas_handle():
    for module in (torch.npu, torch.npu.utils):
        with pytest.warns(UserWarning, match="NPU does not use blas handle"):
            assert module.current_blas_handle() is None


@pytest.mark.api("torch.npu.stress_detect", "torch.npu.utils.stress_detect")
def test_the_device_computes_right(monkeypatch):
    assert torch.npu.stress_detect() == 0
    with pytest.warns(UserWarning, match="Detect_type should be `aic` or `hccs`"):
        assert torch.npu.utils.stress_detect("aiv") == 1
    with pytest.raises(RuntimeError, match="software NPUs have none"):
        torch.npu.stress_detect("hccs")
    monkeypatch.setattr(torch.Tensor, "npu", lambda self: self.cpu() + 1)  # a device that is wrong
    with pytest.warns(UserWarning, match="computed wrong results"):
        assert torch.npu.utils.stress_detect() == 1


@pytest.mark.api(
    *(
        f"torch.npu.{module}obfuscation_{name}"
        for name in ("initialize", "finalize", "calculate")
        for module in ("", "utils.")
    )
)
@pytest.mark.parametrize("module", [torch.npu, torch.npu.utils])
def test_obfuscation_needs_an_ascend_server(module):
    x = torch.ones(1)
    with pytest.raises(RuntimeError, match="obfuscation_initialize talks to the trusted"):
        module.obfuscation_initialize(16, 0, 1, data_type=torch.float16)
    with pytest.raises(RuntimeError, match="obfuscation_calculate talks to the trusted"):
        module.obfuscation_calculate(x, x, x, obf_coefficient=0.5)
    with pytest.raises(RuntimeError, match="obfuscation_finalize talks to the trusted"):
        module.obfuscation_finalize(x)


@pytest.mark.api("torch.npu.get_default_generator", "torch.npu.random.get_default_generator")
def test_default_generators_are_those_of_the_devices():
    for module in (torch.npu, torch.npu.random):
        assert module.get_default_generator(0) is torch.npu.default_generators[0]
        with pytest.raises(IndexError):
            module.get_default_generator(99)


@pytest.mark.api("torch.npu._get_rng_state_offset", "torch.npu._set_rng_state_offset")
def test_the_offset_of_the_generator_is_set():
    before = torch.npu.get_rng_state()
    try:
        torch.npu.manual_seed(5)
        assert torch.npu._get_rng_state_offset() == 0
        torch.rand(8, device="npu")
        offset = torch.npu._get_rng_state_offset()
        assert offset > 0
        expected = torch.rand(8, device="npu")
        torch.npu._set_rng_state_offset(offset, "npu:0")
        assert torch.equal(torch.rand(8, device="npu"), expected)
        torch.npu._set_rng_state_offset(0)
        assert torch.npu._get_rng_state_offset(0) == 0
    finally:
        torch.npu.set_rng_state(before)


def test_numbers_of_dtypes_are_aclnns():
    names = {"float32": 256, "float16": 257, "bool": 268, "bfloat16": 283, "int4": 285, "hifloat8": 290,
             "float8_e5m2": 291, "float8_e4m3fn": 292, "float4_e2m1fn_x2": 296}  # fmt: skip
    assert {name: getattr(torch_npu, name) for name in names} == names
    assert torch_npu.Format.FRACTAL_NZ == 29
    with pytest.raises(AttributeError, match="no attribute 'float33'"):
        _ = torch_npu.float33


@pytest.mark.api("torch.npu.utils", "torch.npu.npu_config")
def test_the_modules_have_torch_npus_functions():
    for module in (torch.npu.utils, torch.npu.npu_config, torch.npu.autocast_utils):
        for name in module.__all__:
            if hasattr(torch.npu, name) and not inspect.ismodule(getattr(torch.npu, name)):
                assert getattr(torch.npu, name) is getattr(module, name), name
    with pytest.raises(AttributeError):
        _ = torch.npu.utils.nothing
