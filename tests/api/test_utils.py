"""torch_npu.utils: what each function does."""

import io
import logging
import math
import os
import subprocess
import sys
import threading

import pytest
import torch
from torch.nn import functional as F

import torch_npu
from torch_npu import accuracy, utils
from torch_npu.accuracy import Tolerance

COMBINE = "torch_npu.utils.combine_tensors"


def api(*names):
    return pytest.mark.api(*(f"torch_npu.utils.{name}" for name in names))


# Combined tensors.


@api("npu_combine_tensors", "combine_tensors.npu_combine_tensors", "is_combined_tensor_valid")
@api("combine_tensors.is_combined_tensor_valid")
def test_combined_tensors_share_one_memory_and_keep_values_and_views():
    tensors = [torch.randn(3, 4).npu(), torch.randn(5).npu(), torch.randn(()).npu()]
    expected = [t.cpu() for t in tensors]
    views = [t.view(-1)[-1:] for t in tensors]
    assert not utils.is_combined_tensor_valid(tensors[1], tensors)
    combined = utils.npu_combine_tensors(tensors)
    assert torch.equal(combined.cpu(), torch.cat([e.view(-1) for e in expected]))
    assert utils.is_combined_tensor_valid(combined, tensors) is True
    assert [t.shape for t in tensors] == [e.shape for e in expected]
    combined.mul_(2)
    for tensor, view, value in zip(tensors, views, expected, strict=True):
        assert torch.equal(tensor.cpu(), value * 2)
        assert torch.equal(view.cpu(), value.view(-1)[-1:] * 2)
    tensors[0].fill_(7)
    del tensors, views
    assert (combined[:12] == 7).all()
    assert not utils.is_combined_tensor_valid(combined, [combined[:4].view(2, 2).t()])
    assert not utils.is_combined_tensor_valid(None, [combined])
    assert not utils.is_combined_tensor_valid(combined, [None])
    assert utils.is_combined_tensor_valid(None, []) is True


def test_a_part_outlives_the_combined_tensor():
    part, other = torch.ones(4, device="npu"), torch.ones(1 << 20, device="npu")
    combined = utils.npu_combine_tensors([part, other])
    del combined, other
    filler = [torch.full((1 << 20,), 9.0, device="npu") for _ in range(4)]
    assert part.tolist() == [1.0] * 4
    del filler


def test_combining_without_values_makes_zeros():
    tensors = [torch.ones(3, device="npu"), torch.ones(2, device="npu")]
    assert utils.npu_combine_tensors(tensors, require_copy_value=False).tolist() == [0.0] * 5
    assert tensors[0].tolist() == [0.0] * 3
    assert utils.npu_combine_tensors([]) is None
    assert utils.npu_combine_tensors([torch.empty(0, device="npu")]) is None


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (lambda: None, "must not have `None`"),
        (lambda: torch.ones(2, device="npu").half(), "must have the same dtype"),
        (lambda: torch.ones(2), "must be on one NPU, got cpu"),
        (lambda: torch.ones(2, 3, device="npu").t(), "must be contiguous"),
    ],
)
def test_what_cannot_be_combined_is_refused(second, text):
    first = torch.ones(2, device="npu")
    with pytest.raises(RuntimeError, match=text):
        utils.npu_combine_tensors([first, second()])
    assert first.tolist() == [1.0, 1.0]


@api("get_part_combined_tensor", "combine_tensors.get_part_combined_tensor")
def test_a_part_of_a_combined_tensor():
    combined = torch.arange(6.0, device="npu")
    part = utils.get_part_combined_tensor(combined, 2, 3)
    assert part.tolist() == [2.0, 3.0, 4.0]
    part.zero_()
    assert combined.tolist() == [0.0, 1.0, 0.0, 0.0, 0.0, 5.0]
    assert utils.get_part_combined_tensor(combined, 2, 0) is None
    assert utils.get_part_combined_tensor(None, 2, 3) is None
    with pytest.raises(RuntimeError, match="elements 4 to 7 are not within the 6"):
        utils.get_part_combined_tensor(combined, 4, 3)


@pytest.mark.api("torch_npu.npu_change_data_ptr")
def test_a_tensor_gets_the_memory_of_another():
    source, target = torch.arange(8.0, device="npu"), torch.zeros(2, 2, device="npu")
    view = target[1]
    assert torch_npu.npu_change_data_ptr(target, source[2:], 1) == 0
    assert target.tolist() == [[3.0, 4.0], [5.0, 6.0]]
    assert (target + 1).tolist() == [[4.0, 5.0], [6.0, 7.0]]
    view.zero_()
    assert source.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 7.0]
    with pytest.raises(IndexError, match="16 bytes from element 5 on are not within the 32 bytes"):
        torch_npu.npu_change_data_ptr(torch.zeros(4, device="npu"), source, 5)
    with pytest.raises(IndexError):
        torch_npu.npu_change_data_ptr(torch.zeros(4, device="npu"), source, -1)
    with pytest.raises(IndexError):
        torch_npu.npu_change_data_ptr(torch.zeros(4, device="npu"), source, 2**62)
    with pytest.raises(TypeError, match="tensors of one dtype"):
        torch_npu.npu_change_data_ptr(torch.zeros(4, device="npu").int(), source, 0)
    with pytest.raises(RuntimeError, match="two tensors of one npu"):
        torch_npu.npu_change_data_ptr(torch.zeros(4), source, 0)
    with pytest.raises(RuntimeError, match="both tensors have the same storage"):
        torch_npu.npu_change_data_ptr(source[:2], source, 0)


def test_combined_memory_goes_to_kernels_of_the_cpu_and_to_products():
    weight, bias = torch.randn(4, 4).npu(), torch.randn(4).npu()
    x = torch.randn(3, 4).npu()
    before = F.linear(x, weight, bias)
    utils.npu_combine_tensors([bias, weight])
    assert torch.equal(F.linear(x, weight, bias), before)
    weight.mul_(2)  # also where the product's packed weights are cached
    torch.testing.assert_close(F.linear(x, weight), 2 * (before - bias))
    assert torch.equal(torch.linalg.det(weight).cpu(), torch.linalg.det(weight.cpu()))


# Operations.


@api(
    "FlopsCounter",
    "FlopsCounter.start",
    "FlopsCounter.stop",
    "FlopsCounter.pause",
    "FlopsCounter.resume",
    "FlopsCounter.get_flops",
)
def test_flops_of_products_are_counted_and_pauses_are_only_traversed():
    counter = utils.FlopsCounter()
    a, b = torch.ones(2, 3, device="npu"), torch.ones(3, 5, device="npu")
    product = 2 * 2 * 3 * 5
    a @ b
    assert counter.get_flops() == [0, 0]
    counter.start()
    a @ b
    assert counter.get_flops() == [product, product]
    counter.pause()
    a @ b
    counter.resume()
    a @ b
    assert counter.get_flops() == [2 * product, 3 * product]
    counter.stop()
    a @ b
    assert counter.get_flops() == [0, 0]


@api("FlopsCounter.__enter__", "FlopsCounter.__exit__")
def test_flops_of_a_training_step():
    conv, linear = torch.nn.Conv2d(3, 4, 3).npu(), torch.nn.Linear(4 * 36, 2).npu()
    x = torch.randn(5, 3, 8, 8).npu()
    with utils.FlopsCounter() as counter:
        linear(conv(x).flatten(1)).sum().backward()
    forward = 2 * 5 * 36 * 4 * 27 + 2 * 5 * 2 * 144
    # The input of the convolution needs no gradient.
    assert counter.get_flops()[0] == 2 * forward + 2 * 5 * 2 * 144
    x @ x
    assert counter.get_flops()[0] == 2 * forward + 2 * 5 * 2 * 144


def test_flops_of_attention():
    q = torch.randn(2, 3, 7, 8).npu().requires_grad_()
    k, v = torch.randn(2, 3, 9, 8).npu(), torch.randn(2, 3, 9, 8).npu()
    with utils.FlopsCounter() as counter:
        out = F.scaled_dot_product_attention(q, k, v)
    forward = 2 * (2 * 2 * 3 * 7 * 9 * 8)
    assert counter.get_flops() == [forward, forward]
    with utils.FlopsCounter() as counter:
        out.sum().backward()
    assert counter.get_flops()[0] >= forward


# Cores of a thread.


@api("set_thread_affinity", "reset_thread_affinity")
def test_a_thread_is_bound_to_cores_and_released():
    found = {}

    def work():
        mine = sorted(os.sched_getaffinity(0))
        found["before"] = set(mine)
        utils.set_thread_affinity([mine[-1], mine[-1]])
        found["one"] = os.sched_getaffinity(0)
        utils.set_thread_affinity([[core, core] for core in mine[:2]])
        found["two"] = os.sched_getaffinity(0)
        utils.reset_thread_affinity()
        found["after"] = os.sched_getaffinity(0)
        utils.set_thread_affinity([mine[0], mine[0]])
        utils.set_thread_affinity(None)
        found["none"] = os.sched_getaffinity(0)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    cores = sorted(found["before"])
    assert found == {
        "before": set(cores),
        "one": {cores[-1]},
        "two": set(cores[:2]),
        "after": set(cores),
        "none": set(cores),
    }
    assert os.sched_getaffinity(0) == set(cores)


@pytest.mark.parametrize("bad", [[], [3, 1], [-1, 2], [1], "0-3", [[0, 1], [2]], [100000, 100001]])
def test_a_bad_range_of_cores_is_refused(bad):
    before = os.sched_getaffinity(0)
    with pytest.raises(ValueError, match="Invalid core range"):
        utils.set_thread_affinity(bad)
    assert os.sched_getaffinity(0) == before


# Saving.


def _wait_for_saves():
    for thread in threading.enumerate():
        if thread.name == "torch_npu.save_async":
            thread.join()


@api("save_async", "serialization.save_async", "serialization.load")
def test_save_async_writes_the_values_of_its_call(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).npu()
    shared = torch.arange(4.0, device="npu")
    expected = {name: value.cpu().clone() for name, value in model.state_dict().items()}
    path = tmp_path / "state.pt"
    utils.save_async({"state": model.state_dict(), "a": shared, "b": shared[1:]}, path)
    with torch.no_grad():
        for value in model.state_dict().values():
            value.zero_()
        shared.zero_()
    _wait_for_saves()
    loaded = utils.serialization.load(path)
    assert loaded["a"].device.type == "npu"
    assert loaded["a"].tolist() == [0.0, 1.0, 2.0, 3.0]
    loaded["a"][1] = 5
    assert loaded["b"][0] == 5
    on_cpu = utils.serialization.load(path, map_location="cpu")["state"]
    for name, value in expected.items():
        assert torch.equal(on_cpu[name], value)
    buffer = io.BytesIO()
    utils.save_async(model, buffer)
    _wait_for_saves()
    other = torch.load(io.BytesIO(buffer.getvalue()), weights_only=False)
    assert other[0].weight.device.type == "npu"
    with pytest.raises(RuntimeError, match="zip format only"):
        utils.save_async(shared, buffer, _use_new_zipfile_serialization=False)


# Versions and environment.


@api("get_cann_version")
def test_the_version_of_cann():
    assert utils.get_cann_version() == torch_npu._C.cann_version()
    assert utils.get_cann_version("RUNTIME").count(".") >= 1
    with pytest.raises(ValueError, match="it takes CANN, RUNTIME"):
        utils.get_cann_version("NOTHING")


COLLECT = "collect_env"


@api(f"{COLLECT}.get_env_info", f"{COLLECT}.pretty_str", f"{COLLECT}.get_pretty_env_info")
@api(f"{COLLECT}.get_cann_version", f"{COLLECT}.get_torch_npu_version", f"{COLLECT}.main")
def test_the_report_of_the_environment(capsys, monkeypatch):
    from torch_npu.utils import collect_env

    # Programs that only tell versions of tools take seconds.
    monkeypatch.setattr(collect_env.of_torch, "run", lambda command: (1, "", ""))
    info = collect_env.get_env_info()
    assert info.torch_version == torch.__version__
    assert info.torch_npu_version == collect_env.get_torch_npu_version() == torch_npu.__version__
    assert info.cann_version == collect_env.get_cann_version()
    assert info.cann_version.startswith(torch_npu._C.cann_version())
    text = collect_env.pretty_str(info._replace(gcc_version=None, is_debug_build=False))
    assert (
        f"PyTorch version: {torch.__version__}\nTorch-npu version: {torch_npu.__version__}" in text
    )
    assert "GCC version: Could not collect" in text
    assert "Is debug build: No" in text
    assert f"CANN:\n{info.cann_version}\n" in text
    assert collect_env.get_pretty_env_info() == collect_env.pretty_str(info)
    collect_env.main()
    printed = capsys.readouterr().out
    assert "Collecting environment information..." in printed
    assert f"Torch-npu version: {torch_npu.__version__}" in printed


@api(f"{COLLECT}.get_torch_npu_install_path", f"{COLLECT}.check_directory_path_readable")
@api(f"{COLLECT}.check_path_owner_consistent")
def test_paths_are_checked(tmp_path):
    from torch_npu.utils import collect_env

    assert os.path.isdir(os.path.join(collect_env.get_torch_npu_install_path(), "torch_npu"))
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    collect_env.check_directory_path_readable(tmp_path)
    with pytest.raises(RuntimeError, match="Invalid path is a symbolic link"):
        collect_env.check_directory_path_readable(link)
    with pytest.raises(RuntimeError, match="The path does not exist"):
        collect_env.check_directory_path_readable(tmp_path / "none")
    with pytest.warns(FutureWarning, match="check_directory_path_readable"):
        collect_env.check_path_owner_consistent(str(tmp_path))
    with (
        pytest.warns(FutureWarning),
        pytest.raises(RuntimeError, match="The path does not exist"),
    ):
        collect_env.check_path_owner_consistent(str(tmp_path / "none"))


@api("cpp_extension.NpuExtension")
def test_an_extension_is_built_and_calls_cann(tmp_path):
    from torch_npu.utils.cpp_extension import NpuExtension

    source = tmp_path / "count.cpp"
    source.write_text(
        "#include <Python.h>\n#include <acl/acl.h>\n"
        "static PyObject* count(PyObject*, PyObject*) {\n"
        "  uint32_t devices = 0; aclrtGetDeviceCount(&devices); return PyLong_FromLong(devices); }\n"
        'static PyMethodDef methods[] = {{"count", count, METH_NOARGS, nullptr}, {}};\n'
        'static PyModuleDef module = {PyModuleDef_HEAD_INIT, "npu_count", nullptr, -1, methods};\n'
        "PyMODINIT_FUNC PyInit_npu_count() { return PyModule_Create(&module); }\n"
    )
    result = NpuExtension(
        "npu_count", [str(source)], define_macros=[("A", "1")], libraries=["ascendcl"]
    )
    assert result.language == "c++"
    assert result.define_macros == [("A", "1")]
    assert {"ascendcl", "torch_npu", "torch", "c10"} <= set(result.libraries)
    library = tmp_path / "npu_count.so"
    include = __import__("sysconfig").get_paths()["include"]
    folders = [f"-I{folder}" for folder in (*result.include_dirs, include)]
    paths = [f"-L{folder}" for folder in result.library_dirs]
    libraries = [f"-l{name}" for name in ("ascendcl", "torch_npu", "torch_cpu", "c10")]
    command = ["g++", "-shared", "-fPIC", "-std=c++20", *folders, str(source), *paths, *libraries]
    subprocess.run([*command, "-o", str(library)], check=True)
    code = "import sys, torch; sys.path.insert(0, sys.argv[1]); import npu_count; print(npu_count.count())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) == torch.npu.device_count()


# Batch normalization of one process.

SYNC = "syncbatchnorm.SyncBatchNorm"


@api(SYNC, f"{SYNC}.forward", f"{SYNC}.backward")
@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 5), (4, 3, 5, 6)])
@pytest.mark.parametrize("affine", [True, False])
def test_sync_batch_norm_of_one_process_is_batch_norm(shape, affine):
    from torch_npu.utils.syncbatchnorm import SyncBatchNorm

    torch.manual_seed(0)
    x, grad = torch.randn(shape) * 3 + 50, torch.randn(shape)
    weight, bias = (torch.rand(3), torch.rand(3)) if affine else (None, None)

    def run(function, device, dtype, *rest):
        def leaf(tensor):
            return None if tensor is None else tensor.to(device, dtype).requires_grad_()

        leaves = [leaf(tensor) for tensor in (x, weight, bias)]
        mean, var = torch.zeros(3).to(device, dtype), torch.ones(3).to(device, dtype)
        out = function(leaves, mean, var)
        out.backward(grad.to(device, dtype))
        return [out, mean, var, *(leaf.grad for leaf in leaves if leaf is not None)]

    found = run(
        lambda ts, mean, var: SyncBatchNorm.apply(*ts, mean, var, 1e-5, 0.3, None, 1),
        "npu",
        torch.float32,
    )
    expected = run(
        lambda ts, mean, var: F.batch_norm(ts[0], mean, var, *ts[1:], True, 0.3, 1e-5),
        "cpu",
        torch.float64,
    )
    for ours, theirs in zip(found, expected, strict=True):
        accuracy.assert_close(
            ours.detach().cpu().double(), theirs.detach(), Tolerance(1e-4, 1e-4), equal_nan=False
        )


def test_one_value_per_channel_is_refused():
    from torch_npu.utils.syncbatchnorm import SyncBatchNorm

    x = torch.ones(1, 3, device="npu")
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        SyncBatchNorm.apply(x, None, None, None, None, 1e-5, 0.1, None, 1)


# Operators.


@pytest.mark.api(
    "torch_npu.utils.exposed_api.public_npu_functions", "torch_npu.utils.custom_ops.npu_swiglu"
)
def test_operators_have_the_official_modules():
    from torch_npu.utils import custom_ops, exposed_api

    x = torch.randn(2, 6, device="npu")
    assert "npu_swiglu" in exposed_api.public_npu_functions
    assert torch.equal(custom_ops.npu_swiglu(x), torch_npu.npu_swiglu(x))
    assert custom_ops.npu_swiglu(x).shape == (2, 3)


# Faults.


@api("register_asd_hook", "set_asd_loss_scale")
def test_a_gradient_that_jumps_is_refused(caplog):
    weight = torch.ones(4, device="npu")

    def backward(scale, dtype=torch.float32):
        x = torch.ones(4, device="npu", dtype=dtype, requires_grad=True)
        utils.register_asd_hook(x, weight)
        (x * scale).sum().backward()

    for step in range(8):
        backward(1.0 + step / 100)
    with caplog.at_level(logging.WARNING, "torch_npu.silent_check"):
        backward(5e4)
    assert "jumped from 2.14 to 100000" in caplog.text
    with pytest.raises(RuntimeError, match=r"the norm of a gradient of shape \(4,\) jumped"):
        backward(1e30)
    utils.register_asd_hook(None, weight)
    utils.register_asd_hook(torch.ones(1), weight)

    other = weight = torch.ones(2, device="npu")
    for _ in range(8):
        backward(1.0, torch.float16)
    utils.set_asd_loss_scale(2.0)
    for _ in range(8):
        backward(1e-7, torch.float16)
    with pytest.raises(RuntimeError, match="jumped"):
        backward(60000.0, torch.float16)
    assert other is weight
    with pytest.raises(ValueError, match="loss scale cannot be 0"):
        utils.set_asd_loss_scale(0)


@pytest.mark.api("torch_npu.matmul_checksum")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_wrong_product_is_found(dtype):
    torch.manual_seed(0)
    a, b = torch.randn(3, 33, 70).to(dtype).npu(), torch.randn(3, 70, 50).to(dtype).npu()
    c = a @ b
    assert torch_npu.matmul_checksum(a, b, c).item() is False
    c[1, 2, 3] += 8.0
    found = torch_npu.matmul_checksum(a, b, c)
    assert found.item() is True
    assert (found.device.type, found.dim(), found.dtype) == ("npu", 0, torch.bool)
    c[1, 2, 3] = math.nan
    assert torch_npu.matmul_checksum(a, b, c).item() is True
    with pytest.raises(TypeError, match="device type should be npu"):
        torch_npu.matmul_checksum(a.cpu(), b, c)
    with pytest.raises(TypeError, match="only supports bfloat16 and float32"):
        torch_npu.matmul_checksum(a.half(), b, c)
