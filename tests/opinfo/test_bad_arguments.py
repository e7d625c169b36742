"""npu's errors for arguments that it refuses: they name the operator and npu, never CPU kernels."""

import re

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

from opinfo import bad_arguments

OPERATORS = {schema.name.split("::")[1] for schema in torch._C._jit_get_all_schemas()}
OPERATORS.add("softshrink_check")  # the check that all devices share
CPU_KERNEL = re.compile(
    r"(?<!libtorch)_cpu\b|\w_cpu_|\bcpu_\w|\bCPU[A-Z]\w*Type\b|\bon CPU\b|\(CPU\)|\bMKL\b|_stub\b|KernelImpl\b|_kernel_impl\b"
)
CPU_TENSOR = re.compile(r"\btorch\.[A-Z]\w*Tensor\b")
NOT_IMPLEMENTED = re.compile(r'"(\w+)" not implemented for')


def faults(message: str, has_cpu_tensors: bool) -> list[str]:
    """The parts of an error's text that are not npu's."""
    text = message.split("\n[ERROR]")[0]
    found = [m[0] for m in CPU_KERNEL.finditer(text)]
    found += [name for name in NOT_IMPLEMENTED.findall(text) if name not in OPERATORS]
    if not has_cpu_tensors:
        found += CPU_TENSOR.findall(text)
    return found


@pytest.mark.parametrize("op", op_db, ids=lambda op: f"{op.name}-{op.variant_test_name}")
def test_error_messages_do_not_name_cpu_kernels(op):
    wrong = {}
    for name, (first, args, kwargs) in bad_arguments.of_op(op):
        try:
            op(first, *args, **kwargs)
            torch.npu.synchronize()
        except Exception as error:
            if found := faults(str(error), name.startswith("cpu")):
                wrong[name] = (found, str(error)[:200])
    assert not wrong


def test_faults_are_found():
    assert faults("\"addmm_impl_cpu_\" not implemented for 'Bool'", False)
    assert faults("\"add_stub\" not implemented for 'Bool'", False)
    assert faults("\"layer_norm_out_frame\" not implemented for 'Bool'", False)
    assert faults("mixed dtype (CPU): all inputs must share same datatype.", False)
    assert faults("but got CPUBFloat16Type instead", False)
    assert faults("weight type (torch.FloatTensor)", False)
    assert faults("histogram_cpu(): bins", True)
    assert not faults("\"add\" not implemented for 'Bool'\n(aten::add on npu)", False)
    assert not faults("Expected all tensors to be on the same device: npu:0 and cpu", True)
    assert not faults("weight type (torch.npu.FloatTensor); a CPU tensor is expected", False)
