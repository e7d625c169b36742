"""transfer_to_npu itself: what it maps, what it refuses, what it leaves alone, what it brings back."""

import pytest
from fresh import output

START = "import torch\nfrom torch_npu.contrib import transfer_to_npu\n"


def test_factories_make_tensors_on_npu():
    created = output(
        START
        + """
import numpy
x = torch.ones(3, device="cuda")
for make in (
    lambda d: torch.zeros(2, device=d), lambda d: torch.tensor([1], device=d),
    lambda d: torch.as_tensor(numpy.ones(2), device=d), lambda d: torch.rand(2, device=d),
    lambda d: torch.randn(2, 2, device=d, requires_grad=True), lambda d: torch.randperm(4, device=d),
    lambda d: torch.randint(4, (2,), device=d), lambda d: torch.arange(3., device=d),
    lambda d: torch.linspace(0, 1, 3, device=d), lambda d: torch.eye(2, device=d),
    lambda d: torch.tril_indices(2, 2, device=d), lambda d: torch.hann_window(4, device=d),
    lambda d: torch.zeros_like(x, device=d), lambda d: torch.rand_like(x.cpu(), device=d),
    lambda d: torch.empty_strided((2, 2), (2, 1), device=d), lambda d: torch.full((2,), 3., device=d),
    lambda d: torch.sparse_coo_tensor([[0]], [1.], (2,), device=d), lambda d: x.new_zeros(2, device=d),
    lambda d: x.new_tensor([2.], device=d), lambda d: x.cpu().to(d), lambda d: x.cpu().to(device=d),
    lambda d: x.cpu().cuda(d), lambda d: torch.fft.fftfreq(4, device=d), lambda d: torch.asarray([1], device=d),
    lambda d: torch.normal(0., 1., (2,), device=d), lambda d: torch.nested.nested_tensor([[1.]], device=d),
    lambda d: torch.nn.Linear(2, 2, device=d).weight, lambda d: torch.nn.Linear(2, 2).to(d).weight,
    lambda d: torch.nn.Linear(2, 2).cuda(d).weight, lambda d: torch.nn.Linear(2, 2).to_empty(device=d).weight,
    lambda d: torch.UntypedStorage(4, device=d) if isinstance(d, (str, torch.device)) else x,
):
    for device in ("cuda", "cuda:0", torch.device("cuda"), torch.device("cuda", 0), 0):
        assert make(device).device == torch.device("npu", 0), (make.__code__.co_firstlineno, device)
with torch.device("cuda"):
    assert torch.zeros(2).is_cuda
torch.set_default_device("cuda")
assert torch.zeros(2).is_cuda and torch.nn.Linear(1, 1).weight.is_cuda
torch.set_default_device(None)
assert not torch.zeros(2).is_cuda
assert x.to("cuda") is x and x.cuda() is x and x.to(torch.float32) is x
assert x.untyped_storage().is_cuda and x.cpu().untyped_storage().cuda().is_cuda
assert torch.Generator("cuda").device.type == torch.Generator(device="cuda").device.type == "npu"
assert x.cpu().pin_memory("cuda").is_pinned("cuda")
assert torch.cuda.is_available() and torch.cuda.device_count() == torch.npu.device_count()
print("made")
"""
    )
    assert created.endswith("made")


def test_torch_device_is_pytorchs():
    assert output(
        "import torch\noriginal = torch.device\n"
        + START
        + """
import copy, pickle
def f(d: torch.device) -> torch.device: return d
d = f(torch.device("cuda:0"))
assert torch.device is original and isinstance(d, torch.device) and d.type == "cuda" and d.index == 0
assert pickle.loads(pickle.dumps(d)) == copy.deepcopy(d) == d
x = torch.zeros(1, device=d)
assert pickle.loads(pickle.dumps(x.device)) == x.device
assert isinstance(torch.Generator("cuda"), torch.Generator) and issubclass(torch.cuda.Stream, torch.Stream)
assert not isinstance(3, torch.Generator) and isinstance(torch.cuda.Event(), torch.Event)
class Mine(torch.Stream): pass
assert isinstance(Mine(device="cuda"), Mine) and not isinstance(torch.cuda.current_stream(), Mine)
for function in (torch.cuda.is_available, torch.cuda.synchronize, torch.cuda.Stream):
    assert pickle.loads(pickle.dumps(function)) is function
print("same")
"""
    ).endswith("same")


def test_restore_brings_every_object_back():
    assert output(
        """
import sys, torch
import torch_npu
def everything():
    seen = {}
    for name, module in list(sys.modules.items()):
        if name == "torch" or name.startswith(("torch.", "torch_npu.npu")):
            for key, value in list(getattr(module, "__dict__", {}).items()):
                seen[name, key] = value
                if isinstance(value, type) and value.__module__.startswith("torch"):
                    for attribute, own in list(vars(value).items()):
                        seen[value, attribute] = own
    return seen
import torch._subclasses.fake_tensor, torch.fx.experimental.proxy_tensor
from torch_npu.contrib._transfer.counterparts import MODULES, module
for name in MODULES: module(name)
import torch.autograd.profiler, torch.testing
registry = list(torch.serialization._package_registry)
before = everything()
from torch_npu.contrib import transfer_to_npu
changes = list(transfer_to_npu._patcher.changes)
during = everything()
changed = [key for key in before if during.get(key) is not before[key]]
assert len(changed) >= len(changes) > 150, (len(changed), len(changes))
transfer_to_npu.apply()  # twice is harmless
assert transfer_to_npu._patcher.changes == changes and transfer_to_npu.is_applied()
torch.zeros(2, device="cuda")
transfer_to_npu.restore()
after = everything()
ignored = {"__warningregistry__", "_functions", "__abstractmethods__", "_abc_impl", "__annotations__"}
left = [k for k in before if k[1] not in ignored and after.get(k, None) is not before[k]]
left = [k for k in left if k in set(changed) or not str(k[1]).startswith("_")]
left = [k for k in left if isinstance(before[k], type(everything)) or k in set(changed)]
assert not left, left
for owner, name, original, replacement in changes:
    own = vars(owner)
    assert own[name] is original if name in own else not isinstance(original, type(everything)), name
assert torch.serialization._package_registry == registry and not transfer_to_npu.is_applied()
transfer_to_npu.restore()
for wrong in (lambda: torch.zeros(2, device="cuda"), lambda: torch.zeros(2).to("cuda"), lambda: torch.zeros(2).cuda()):
    try: wrong()
    except (RuntimeError, AssertionError, NotImplementedError): pass
    else: raise SystemExit("cuda still works")
assert not torch.cuda.is_available() and torch.UntypedStorage(4).device.type == "cpu"
transfer_to_npu.apply()
assert torch.zeros(2, device="cuda").is_cuda
print("back")
"""
    ).endswith("back")


def test_names_without_a_counterpart_say_so():
    result = output(
        START
        + """
from torch_npu.contrib._transfer.counterparts import all_counterparts, resolve
absent = [name for name, target, kept in all_counterparts() if target is None and callable(resolve(name))]
assert "torch.cuda.list_gpu_processes" in absent
for name in absent:
    try: resolve(name)()
    except RuntimeError as error: assert str(error).startswith(f"{name} has no counterpart on npu"), error
    else: raise SystemExit(f"{name} did nothing")
for name, target, kept in all_counterparts():
    if target and not kept and name != "torch.cuda.is_available":
        assert resolve(name) is resolve(target), name
print(len(absent))
"""
    )
    assert int(result.split()[-1]) > 5


def test_wrong_devices_raise_as_cudas_do():
    assert output(
        START
        + """
def error(call):
    try: call()
    except RuntimeError as e: return str(e)
    raise SystemExit("no error")
for call in (lambda: torch.zeros(1, device="cuda:7"), lambda: torch.ones(1).cuda(7), lambda: torch.ones(1).to("cuda:7"),
             lambda: torch.cuda.set_device("cuda:7"), lambda: torch.nn.Linear(1, 1).cuda(7),
             lambda: torch.cuda.get_device_name(7)):
    assert "Invalid NPU device index" in error(call), error(call)
try: torch.cuda.synchronize("cpu")
except ValueError as e: assert "Expected a npu device" in str(e)
else: raise SystemExit("no error")
assert "must be cuda device" in error(lambda: torch.ones(1).cuda("cpu"))
assert "cudb" in error(lambda: torch.zeros(1, device="cudb"))
print("raised")
""",
        SOFTNPU_DEVICE_COUNT="2",
    ).endswith("raised")


def test_autocast_scaler_flags_and_profiler():
    assert output(
        START
        + """
x = torch.ones(4, 4, device="cuda")
for context in (torch.autocast("cuda"), torch.amp.autocast(device_type="cuda"), torch.cuda.amp.autocast()):
    with context:
        assert (x @ x).dtype is torch.float16 and torch.is_autocast_enabled() and torch.is_autocast_enabled("cuda")
assert not torch.is_autocast_enabled()
torch.set_autocast_gpu_dtype(torch.bfloat16)
assert torch.get_autocast_gpu_dtype() is torch.get_autocast_dtype("cuda") is torch.bfloat16
assert torch.amp.GradScaler("cuda").scale(x).max() == 65536 == torch.cuda.amp.GradScaler().scale(x).max()
torch.backends.cuda.matmul.allow_tf32 = True
assert torch.npu.matmul.allow_hf32 and torch.backends.cuda.matmul.allow_tf32
torch.backends.cudnn.allow_tf32 = False
assert not torch.npu.conv.allow_hf32 and not torch.backends.cudnn.allow_tf32
torch.backends.cudnn.benchmark = True
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
    x @ x
assert p.activities == {ProfilerActivity.CPU, ProfilerActivity.PrivateUse1}, p.activities
assert "aten::mm" in p.key_averages().table(sort_by="cuda_time_total", row_limit=5)
import torch.distributed as dist
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
assert dist.is_nccl_available() and dist.get_backend() == "hccl"
dist.all_reduce(y := torch.ones(3, device="cuda"))
assert y.tolist() == [1.0] * 3
assert dist.init_device_mesh("cuda", (1,)).device_type == "npu"
dist.destroy_process_group()
print("done")
"""
    ).endswith("done")


def test_compile_and_script_see_npu():
    assert output(
        START
        + """
def f(x):
    if torch.cuda.is_available():
        x = x.to("cuda")
    return x + torch.ones(3, device="cuda") + torch.zeros(3).cuda()
for backend in ("eager", "aot_eager"):
    torch._dynamo.reset()
    compiled = torch.compile(f, backend=backend, fullgraph=True)
    result = compiled(torch.ones(3))
    assert result.is_cuda and result.tolist() == [2.0] * 3
print("compiled")
""",
        timeout=240,
    ).endswith("compiled")


def test_inductor_compiles_for_npu():
    assert output(
        START
        + """
torch._inductor.config.fx_graph_cache = False
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).cuda()
def f(x):
    y = model(x.cuda()) + torch.ones(4, device="cuda").to("cuda:0")
    return y * 2 if y.is_cuda else y, x.is_cuda
compiled = torch.compile(f, fullgraph=True)
x = torch.randn(3, 4)
result, was_there = compiled(x)
assert result.is_cuda and was_there is False and compiled(x.cuda())[1] is True
assert torch.allclose(result, f(x)[0], atol=1e-5)
result.sum().backward()
assert model[0].weight.grad.is_cuda
from torch_npu import _C
assert _C.generated_launches() > 0
side = torch.cuda.Stream()
def on_two_streams(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = (x @ x).relu()
    torch.cuda.current_stream().wait_stream(side)
    z = y.sin() + 1
    torch.cuda.synchronize()
    return z
x = torch.randn(64, 64, device="cuda")
for _ in range(3):
    assert torch.allclose(torch.compile(on_two_streams)(x), on_two_streams(x), atol=1e-4)
transfer_to_npu.restore()
torch._dynamo.reset()
assert torch.compile(lambda x: (x + 1, x.is_cuda))(x)[1] is False
print("compiled")
""",
        timeout=400,
    ).endswith("compiled")


def test_torchscript_moves_to_npu():
    assert output(
        START
        + """
unit = torch.jit.CompilationUnit('''
def f(x):
    return x.to("cuda"), x.to(device="cuda:0"), x.to("cuda", torch.float16), x.cuda(), x.to(torch.device("cuda"))
def g(x, device: Device):
    return x.to(device)
''')
f, g = unit.f, unit.g
for x in (torch.ones(3), torch.ones(3, device="cuda")):
    assert all(y.is_cuda and y.tolist() == [1.0] * 3 for y in f(x))
x = torch.ones(3, requires_grad=True)
f(x)[0].sum().backward()
assert x.grad.tolist() == [1.0] * 3
assert g(torch.ones(1), torch.device("cuda")).is_cuda and not g(x.cuda(), torch.device("cpu")).is_cuda
try: g(x, torch.device("cuda:9"))
except RuntimeError as e: assert "Invalid NPU device index npu:9" in str(e), e
else: raise SystemExit("no error")
transfer_to_npu.restore()
try: f(torch.ones(3))
except RuntimeError as e: assert "CUDA" in str(e) or "NVIDIA" in str(e), e
else: raise SystemExit("cuda still works")
assert g(torch.ones(1), torch.device("npu")).device.type == "npu"
transfer_to_npu.apply()
assert f(torch.ones(3))[0].is_cuda
print("scripted")
"""
    ).endswith("scripted")


def test_small_idioms_of_cuda_scripts():
    assert output(
        START
        + """
import importlib, os
with torch.cuda.nvtx.range("step {}", 1): pass
@torch.cuda.nvtx.range("call")
def f(): return torch.cuda.nvtx.range_push("inner"), torch.cuda.nvtx.range_pop()
assert f()[1] == 1
stream, event = torch.cuda.Stream(), torch.cuda.Event()
event.record(stream)
assert stream.cuda_stream == stream.npu_stream != 0 and event.cuda_event == event.npu_event != 0
torch.accelerator.synchronize("cuda:0")
assert torch.accelerator.memory_allocated("cuda") == torch.cuda.memory_allocated()
torch.set_default_tensor_type(torch.cuda.HalfTensor)
assert torch.zeros(1).is_cuda and torch.zeros(1).dtype is torch.float16
torch.set_default_tensor_type(torch.FloatTensor)
assert not torch.zeros(1).is_cuda and torch.zeros(1).dtype is torch.float32
assert torch.cuda.get_device_properties(0).major is None
assert torch.cuda.get_device_capability() == (0, 0)
os.environ["TORCH_NPU_DEVICE_CAPABILITY"] = "8.0"
assert torch.cuda.get_device_capability("cuda:0") == (8, 0)
options = torch.distributed.ProcessGroupNCCL.Options()
options.is_high_priority_stream = True
assert options.backend == "hccl"
torch.cuda.memory._record_memory_history(max_entries=100)
torch.zeros(3, device="cuda")
assert "free_completed" in [e["action"] for e in torch.cuda.memory._snapshot()["device_traces"][0]]
torch.cuda.memory._dump_snapshot(os.devnull)
torch.cuda.memory._record_memory_history(enabled=None)
importlib.reload(transfer_to_npu).restore()
assert not hasattr(stream, "cuda_stream") and not torch.cuda.is_available()
print("small")
"""
    ).endswith("small")


def test_calls_without_a_device_run_pytorchs_own_functions():
    import torch

    names = ("zeros", "ones", "empty", "tensor", "arange", "randn", "add", "matmul", "cat", "full")
    assert output(
        "import torch\nimport torch_npu\n"
        + f"before = [getattr(torch, n) for n in {names!r}] + [torch.Tensor.add, torch.Tensor.mul, torch.Tensor.float]\n"
        + START
        + f"after = [getattr(torch, n) for n in {names!r}] + [torch.Tensor.add, torch.Tensor.mul, torch.Tensor.float]\n"
        + "assert all(a is b for a, b in zip(before, after))\n"
        + "assert not torch.overrides._get_current_function_mode_stack()\nprint('own')"
    ).endswith("own")
    assert torch.zeros is not None


def test_workers_and_threads():
    assert output(
        START
        + """
import threading
from torch.utils.data import DataLoader
loader = DataLoader(torch.arange(8.), batch_size=4, num_workers=2, pin_memory=True, pin_memory_device="cuda")
sums = []
def work():
    for batch in loader: sums.append(batch.cuda().sum().item())
    assert torch.zeros(1, device="cuda").is_cuda
threads = [threading.Thread(target=work) for _ in range(2)]
[t.start() for t in threads]; [t.join() for t in threads]
assert sorted(sums) == [6.0, 6.0, 22.0, 22.0], sums
print("worked")
"""
    ).endswith("worked")


@pytest.mark.parametrize("name", ["transformers.fake", "accelerate.fake"])
def test_libraries_that_know_npu_are_told_the_truth(name):
    assert output(
        START
        + f"""
import types
library = types.ModuleType({name!r})
exec("import torch\\ndef ask(): return torch.cuda.is_available()", library.__dict__)
assert library.ask() is False and torch.cuda.is_available() is True
print("truth")
"""
    ).endswith("truth")


def test_pytorchs_own_tests_are_scripts_for_cuda():
    program = START + "from torch.testing._internal.common_utils import TEST_CUDA; print(TEST_CUDA)"
    assert output(program).endswith("True")
