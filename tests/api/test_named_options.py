"""Options by functions and by name, in torch.npu and torch.npu.npu_config."""

import ctypes
import json

import fresh
import numpy as np
import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.softnpu import lib_dir

config = torch.npu.npu_config
MODULES = pytest.mark.parametrize("module", [torch.npu, config], ids=["npu", "npu_config"])


def api(*names):
    return pytest.mark.api(
        *(f"torch.npu.{module}{name}" for name in names for module in ("", "npu_config."))
    )


@pytest.fixture(autouse=True)
def defaults():
    yield
    torch.npu.finalize_dump()
    torch.npu.set_mm_bmm_format_nd(True)
    torch.npu.use_compatible_impl(False)
    torch.npu.set_compile_mode()
    torch.npu.matmul.allow_hf32 = False
    torch.npu.conv.allow_hf32 = True
    torch.npu.config.allow_internal_format = False


@api("set_option", "is_jit_compile_false", "get_mm_bmm_format_nd")
@MODULES
def test_every_option_with_an_effect_has_it(module):
    module.set_option(
        {
            "ALLOW_CONV_HF32": "disable",
            "ALLOW_MATMUL_HF32": "enable",
            "ALLOW_INTERNAL_FORMAT": "enable",
            "MM_BMM_ND_ENABLE": "disable",
            "jitCompile": "enable",
            "TORCH_NPU_USE_COMPATIBLE_IMPL": 1,
        }
    )
    assert torch.npu.conv.allow_hf32 is False
    assert torch.npu.matmul.allow_hf32 is True
    assert torch.npu.config.allow_internal_format is True
    assert module.get_mm_bmm_format_nd() is False
    assert module.is_jit_compile_false() is False
    assert torch.npu.are_compatible_impl_enabled() is True
    module.set_option({"CUBE_MATH_TYPE": 4})
    assert torch.npu.matmul.cube_math_type is torch.npu.CubeMathType.USE_FP32_ADD


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("ACL_PRECISION_MODE", "allow_fp32_to_fp16"),
        ("ACL_OP_SELECT_IMPL_MODE", "high_precision"),
        ("ACL_AICORE_NUM", 32),
        ("ACL_OPTYPELIST_FOR_IMPLMODE", "Pooling"),
        ("ACL_OP_DEBUG_LEVEL", 0),
        ("ACL_DEBUG_DIR", "/tmp"),
        ("ACL_OP_COMPILER_CACHE_MODE", "force"),
        ("ACL_OP_COMPILER_CACHE_DIR", "/tmp"),
        ("ACL_OP_DEBUG_OPTION", "oom"),
        ("STRONG_CONSISTENCY", "enable"),
        ("FORCE_ACLNN_OP_LIST", "add"),
        ("NPU_FUZZY_COMPILE_BLACKLIST", "add"),
        ("autotune", "enable"),
        ("autotunegraphdumppath", "/tmp"),
    ],
)
def test_options_without_an_effect_say_so(option, value):
    with pytest.warns(UserWarning, match=f"{option} has no effect here"):
        torch.npu.set_option({option: value})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("ACL_PRECISION_MODE", "fast"),
        ("ACL_AICORE_NUM", 33),
        ("ACL_OP_DEBUG_LEVEL", "5"),
        ("ACL_OP_COMPILER_CACHE_MODE", "on"),
        ("TORCH_NPU_USE_COMPATIBLE_IMPL", "yes"),
    ],
)
def test_values_that_do_not_exist_are_refused(option, value):
    with pytest.raises(ValueError, match=f"value of {option} should be in .* but got {value}"):
        torch.npu.set_option({option: value})


@api("set_compile_mode", "is_jit_compile_false")
@MODULES
def test_the_compile_mode_is_kept(module):
    module.set_compile_mode(jit_compile=True)
    assert module.is_jit_compile_false() is False
    module.set_compile_mode(jit_compile=False)
    assert module.is_jit_compile_false() is True


@api("set_mm_bmm_format_nd", "get_mm_bmm_format_nd")
@MODULES
def test_the_format_of_products_changes_no_result(module):
    x = torch.rand(3, 4, device="npu")
    expected = x @ x.T
    assert module.get_mm_bmm_format_nd() is True
    module.set_mm_bmm_format_nd(False)
    assert module.get_mm_bmm_format_nd() is False
    assert torch.equal(x @ x.T, expected)
    module.set_mm_bmm_format_nd()
    assert module.get_mm_bmm_format_nd() is True


@pytest.mark.api("torch.npu.use_compatible_impl", "torch.npu.are_compatible_impl_enabled")
def test_the_compatible_implementation_is_the_only_one():
    x = torch.randn(100)
    assert torch.npu.are_compatible_impl_enabled() is False
    for on in (True, False):
        torch.npu.use_compatible_impl(on)
        assert torch.npu.are_compatible_impl_enabled() is on
        actual = torch.nn.functional.gelu(x.npu()).cpu()
        accuracy.assert_close(
            actual, torch.nn.functional.gelu(x), Tolerance(1e-5, 1e-6), equal_nan=False
        )
    program = "import torch; print(torch.npu.are_compatible_impl_enabled())"
    assert fresh.output(program, TORCH_NPU_USE_COMPATIBLE_IMPL="1") == "True"


@api("set_aoe")
@MODULES
def test_the_folder_of_aoe_is_made(module, tmp_path):
    folder = tmp_path / "a" / "b"
    with pytest.warns(UserWarning, match="nothing to tune"):
        module.set_aoe(str(folder))
    assert folder.is_dir()
    with pytest.raises(TypeError, match="Type of dump_path is invalid"):
        module.set_aoe(3)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Value of dump_path is invalid"):
        module.set_aoe(str(tmp_path / "file" / "folder"))


def test_no_dump_is_no_dump(tmp_path):
    parser = ctypes.CDLL(str(lib_dir() / "libascend_dump_parser.so"))
    out = bytes(tmp_path / "out.json")
    for content in (b"", b"1234567", (1 << 60).to_bytes(8, "little") + b"{}", bytes(64)):
        assert parser.ParseDumpProtoToJson(content, ctypes.c_size_t(len(content)), out) == 1
    assert not (tmp_path / "out.json").exists()


def configured(tmp_path, **dump):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"dump": {"dump_path": str(tmp_path / "out"), **dump}}))
    return str(path)


def dumped(tmp_path):
    """The dumps by the operator's type, in the order in which they ran: (inputs, outputs) as arrays."""
    types = {1: np.float32, 2: np.float16, 27: np.uint16}
    parser = ctypes.CDLL(str(lib_dir() / "libascend_dump_parser.so"))
    dumps = {}
    for path in sorted((tmp_path / "out").iterdir(), key=lambda p: int(p.name.split(".")[2])):
        kind, name, _, _, microseconds = path.name.split(".")
        assert len(microseconds) == 16
        content = path.read_bytes()
        shown = tmp_path / "header.json"
        assert (
            parser.ParseDumpProtoToJson(content, ctypes.c_size_t(len(content)), bytes(shown)) == 0
        )
        header = json.loads(shown.read_text())
        assert header["op_name"] == name
        at = 8 + int.from_bytes(content[:8], "little")
        arrays = []
        for part in ("input", "output"):
            arrays.append([])
            for tensor in header[part]:
                values = np.frombuffer(
                    content[at : at + tensor["size"]], types[tensor["data_type"]]
                )
                arrays[-1].append(values.reshape(tensor["shape"]["dim"]))
                at += tensor["size"]
        assert at == len(content)
        dumps.setdefault(kind, []).append(tuple(arrays))
    return dumps


@pytest.mark.api(
    *(
        f"torch.npu.{m}{n}"
        for n in ("init_dump", "set_dump", "finalize_dump")
        for m in ("", "npu_config.", "utils.")
    )
)
@pytest.mark.parametrize("module", [torch.npu, config, torch.npu.utils])
def test_operators_are_dumped(module, tmp_path):
    x = torch.tensor([1.0, 2.0], device="npu", requires_grad=True)
    module.init_dump()
    module.set_dump(configured(tmp_path, dump_mode="all"))
    y = x * 3
    y.bfloat16()
    y.sum().backward()
    module.finalize_dump()
    _ = x * 5
    dumps = dumped(tmp_path)
    products = [outputs[0].tolist() for _, outputs in dumps["Muls"]]
    assert products == [[3.0, 6.0], [3.0, 3.0]]  # the second is the gradient's
    assert dumps["Muls"][0][0][0].tolist() == [1.0, 2.0]
    assert any(outputs[0].dtype == np.uint16 for kind in dumps for _, outputs in dumps[kind])


def test_a_dump_takes_the_named_operators(tmp_path):
    torch.npu.set_option({"mdldumpswitch": "enable"})
    torch.npu.set_option(
        {"mdldumpconfigpath": configured(tmp_path, dump_list=[{"layer": ["Adds"]}])}
    )
    x = torch.ones(2, device="npu")
    _ = (x + 1) * 2
    torch.npu.set_option({"mdldumpswitch": "disable"})
    assert list(dumped(tmp_path)) == ["Adds"]


@api("set_dump", "init_dump")
@MODULES
def test_a_dump_without_a_configuration_is_refused(module, tmp_path):
    with pytest.raises(AssertionError, match=r"cfg_file /no/such\.json path does not exists"):
        module.set_dump("/no/such.json")
    with pytest.raises(RuntimeError, match=r"call torch\.npu\.init_dump\(\) first"):
        module.set_dump(configured(tmp_path))
    module.init_dump()
    with pytest.raises(ValueError, match=r"dump_mode .* not 'some'"):
        module.set_dump(configured(tmp_path, dump_mode="some"))
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match=r"other\.json is no configuration"):
        module.set_dump(str(tmp_path / "other.json"))


@pytest.mark.api(
    "torch.npu.CubeMathType",
    "torch.npu.CubeMathType.KEEP_DTYPE",
    "torch.npu.CubeMathType.ALLOW_FP32_DOWN_PRECISION",
    "torch.npu.CubeMathType.USE_FP16",
    "torch.npu.CubeMathType.USE_HF32",
    "torch.npu.CubeMathType.FORCE_GRP_ACC_FOR_FP32",
)
def test_the_precisions_of_products_have_aclnns_numbers():
    kinds = torch.npu.CubeMathType
    names = (
        "KEEP_DTYPE",
        "ALLOW_FP32_DOWN_PRECISION",
        "USE_FP16",
        "USE_HF32",
        "FORCE_GRP_ACC_FOR_FP32",
    )
    assert [int(kinds[name]) for name in names] == [0, 1, 2, 3, 4]
    assert kinds.USE_FP32_ADD is kinds.FORCE_GRP_ACC_FOR_FP32
    assert kinds.USE_HF32.bit_length() == 2
    assert kinds.USE_HF32.to_bytes(1, "big") == b"\x03"


@pytest.mark.api("torch.npu.config", "torch.npu.matmul", "torch.npu.conv")
def test_the_objects_of_options_are_properties():
    torch.npu.config.allow_internal_format = True
    assert torch.npu.config.allow_internal_format is True
    torch.npu.matmul.cube_math_type = torch.npu.CubeMathType.USE_HF32
    assert torch.npu.matmul.allow_hf32 is True
    torch.npu.conv.allow_hf32 = False
    assert torch.npu.conv.allow_hf32 is False
    with pytest.raises(TypeError, match="must be a bool"):
        torch.npu.config.allow_internal_format = "yes"


@pytest.mark.api(
    "torch.npu.aclnn.allow_hf32", "torch.npu.aclnn.version", "torch.npu.aclnn.backends.version"
)
def test_aclnn_has_its_flag_and_version():
    aclnn = torch.npu.aclnn
    assert aclnn.allow_hf32 is True
    with aclnn.flags(allow_hf32=False):
        assert aclnn.allow_hf32 is False
        assert torch.npu.conv.allow_hf32 is False
    assert torch.npu.conv.allow_hf32 is True
    # PyTorch's own test classes forbid settings without a context, for the whole process.
    with torch.backends.__allow_nonbracketed_mutation():
        aclnn.allow_hf32 = False
        assert torch.npu.conv.allow_hf32 is False
        assert aclnn.set_flags(True) == (False,)
    assert torch.npu.conv.allow_hf32 is True
    assert aclnn.version() == aclnn.backends.version() == torch.npu.utils.get_cann_version()
