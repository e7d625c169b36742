"""The lines of Python that the article gives as advice: each runs, and does what it is for."""

import fresh

# The lines themselves are those without an assertion.
BEST_PRACTICE = """
import torch, torch_npu
from torch_npu.utils import find_optimal_batch_size

tensor = torch.randn(2, 3, 32, 32).npu()
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()).npu().eval()
available_memory = 64 * 1024**2

tensor = tensor.to(memory_format=torch.channels_last)
model = model.to(memory_format=torch.channels_last)
assert tensor.is_contiguous(memory_format=torch.channels_last)
assert model[0].weight.is_contiguous(memory_format=torch.channels_last)

optimal_batch_size = find_optimal_batch_size(model, available_memory)
assert 1 < optimal_batch_size < 1024

torch_npu.npu.set_compile_mode(jit_compile=True)
assert not torch_npu.npu.is_jit_compile_false()

torch_npu.npu.config.allow_tf32 = True
assert torch.npu.matmul.allow_hf32 and torch.npu.conv.allow_hf32

memory_used = torch.npu.memory_allocated() / 1024**3
assert memory_used * 1024**3 >= tensor.nbytes + model[0].weight.nbytes

torch_npu.npu.set_operator_fallback('cpu')
assert torch_npu.npu.get_operator_fallback() == "cpu"
x = torch.arange(3.0).npu()
with torch.no_grad():
    routes = torch_npu.utils.explain(torch.special.i0, x).routes()
assert routes.get("CPU fallback") == 1, routes
print(model(tensor).shape)
"""


def test_best_practice():
    assert fresh.output(BEST_PRACTICE) == "torch.Size([2, 8, 30, 30])"


def test_lines_of_the_shell():
    installed = "import torch_npu; print('NPU支持已激活')"
    available = "import torch_npu; print(torch_npu.npu.is_available())"
    version = "import torch; print(f'PyTorch版本: {torch.__version__}')"
    assert fresh.output(installed, PYTHONUTF8="1") == "NPU支持已激活"
    assert fresh.output(available) == "True"
    assert fresh.output(version, PYTHONUTF8="1").startswith("PyTorch版本: 2.")


def test_memory_optimization_runs_best_practice():
    assert fresh.output(BEST_PRACTICE, NPU_MEMORY_OPTIMIZATION="1").startswith("torch.Size")
