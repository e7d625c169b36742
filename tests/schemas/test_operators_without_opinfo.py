"""Every operator of ATen without an OpInfo is called once, with arguments drawn from its schema: npu gives what the CPU
gives."""

import pytest

from schemas import children
from schemas.draw import all_wanted, without_opinfo
from schemas.search import table

FOUND, REASONS = table()
NAMES = without_opinfo()
_OF_THE_CPU = "an argument that must be on the CPU, as on CUDA"
_INVALID = "a sparse tensor with indices outside of its sizes, which nothing can read"
_OPAQUE = "an object of the CPU's libraries"
# What npu does otherwise than the CPU, or what cannot be compared, with the reason.
DIFFERS = {
    "aten._add_batch_dim.default": "a batched tensor, which has no elements of its own",
    "aten._foreach_addcdiv_.Tensor": _OF_THE_CPU,
    "aten._foreach_addcmul.Tensor_out": _OF_THE_CPU,
    "aten._foreach_addcmul_.Tensor": _OF_THE_CPU,
    "aten._local_scalar_dense.default": "the CPU takes the first of several elements, npu refuses them",
    "aten._pack_padded_sequence.out": _OF_THE_CPU,
    "aten._pack_padded_sequence_backward.default": _OF_THE_CPU,
    "aten._pad_packed_sequence.default": _OF_THE_CPU,
    "aten._sparse_bsc_tensor_unsafe.default": _INVALID,
    "aten._sparse_bsr_tensor_unsafe.default": _INVALID,
    "aten._sparse_csr_tensor_unsafe.default": _INVALID,
    "aten._upsample_bicubic2d_aa.default": "the CPU repeats the first row of a result with one column",
    "aten.detach_.default": "the copy on npu is a view, which cannot be detached in place",
    "aten.fbgemm_pack_gemm_matrix_fp16.default": _OPAQUE,
    "aten.get_device.default": "the device's number",
    "aten.log_sigmoid_forward.output": "the buffer is unspecified, and unused outside of the CPU",
    "aten.mkldnn_rnn_layer.default": _OPAQUE,
    "aten.sparse_bsc_tensor.ccol_row_value_size": _INVALID,
    "aten.sparse_bsr_tensor.crow_col_value": _INVALID,
    "aten.sparse_bsr_tensor.crow_col_value_size": _INVALID,
    "aten.sparse_csc_tensor.ccol_row_value": _INVALID,
    "aten.sparse_csc_tensor.ccol_row_value_size": _INVALID,
    "aten.sparse_csr_tensor.crow_col_value": _INVALID,
    "aten.sparse_csr_tensor.crow_col_value_size": _INVALID,
    "aten.to_mkldnn.default": _OPAQUE,
}
COMPARED = [name for name in NAMES if name in FOUND and name not in DIFFERS]
# Each part is a process that may end with the call that crashes it.
PARTS = 15


def test_the_table_has_every_overload():
    known = {*FOUND, *REASONS}
    assert known == set(all_wanted()), "run tests/schemas/search.py --write"


def test_counts(capsys):
    called = [name for name in NAMES if name in FOUND]
    operators = {name.split(".")[1] for name in NAMES}
    reached = {name.split(".")[1] for name in called}
    covered = {
        name.split(".")[1] for name in NAMES if REASONS.get(name) == "PyTorch's own cases call it"
    }
    with capsys.disabled():
        print(
            f"\n{len(NAMES)} overloads of {len(operators)} operators without an OpInfo: {len(called)} overloads of "
            f"{len(reached)} operators called, {len(covered - reached)} more called by PyTorch's cases, "
            f"{len(operators - reached - covered)} not, with reasons in tests/schemas/arguments.txt"
        )
    assert len(called) > 700
    assert all(REASONS[name] for name in NAMES if name not in FOUND)


@pytest.mark.parametrize("part", range(PARTS))
def test_npu_gives_what_the_cpu_gives(part):
    names = COMPARED[part::PARTS]
    found = children.outcomes("schemas.compared", names, seconds=600)
    assert sorted(found) == sorted(names)
    wrong = [f"{name}: {text}" for name, text in found.items() if text]
    assert not wrong, "\n".join(wrong)


def test_every_reason_is_of_a_call():
    assert set(DIFFERS) <= set(FOUND)
