"""Names beside operators that libraries look up."""

import pytest
import torch

import torch_npu


def test_version_of_cann():
    assert torch.version.cann == torch_npu._C.cann_version()
    assert torch.version.cann.split(".")[0].isdigit()


def test_lazy_calls_run_at_once():
    called = []
    assert torch.npu._lazy_call(lambda: called.append(1)) is None
    assert called == [1]


def test_operators_of_atb_are_registered():
    assert torch_npu.op_plugin.atb._atb_ops._register_atb_extensions() is None
    assert torch.ops.atb._npu_reshape_and_cache is not None


def test_a_weak_reference_shares_memory_without_keeping_it():
    x = torch.arange(12.0, device="npu").reshape(3, 4)[1:, ::2]
    weak = torch_npu._C._weak_ref_tensor(x)
    assert (weak.shape, weak.stride(), weak.data_ptr()) == (x.shape, x.stride(), x.data_ptr())
    x.add_(1)
    assert torch.equal(weak.cpu(), x.cpu())
    weak.zero_()
    assert x.abs().sum() == 0
    before = torch.npu.memory_allocated()
    size = x.untyped_storage().nbytes()
    del x
    assert torch.npu.memory_allocated() <= before - size
    with pytest.raises(TypeError, match="a dense npu tensor is taken, not one on cpu"):
        torch_npu._C._weak_ref_tensor(torch.ones(1))
