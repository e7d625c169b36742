"""AI CPU kernels that ignore strides: each is called on tensors with gaps and compared with the CPU on contiguous copies."""

import pytest
import torch
from fuzz.draw import Drawn
from fuzz.known_cpu_errors import IGNORES_STRIDES
from fuzz.recorded import YAML
from fuzz.run import run

from codegen import parse
from schemas.calls import difference, has_specified_elements, run_on_npu
from schemas.draw import drawn, on_ai_cpu
from schemas.layouts import laid_out
from schemas.search import table
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

FOUND, _ = table()
# Operators whose results are views or depend on strides by their definition.
_OF_STRIDES = ("as_strided", "set_", "view", "_reshape_alias", "resize_", "empty", "unfold")
# Results that only the backward pass sees, whose sizes depend on the path; and kernels of another library's tensors.
_OTHERS = ("_embedding_bag", "to_mkldnn", "mkldnn_rnn_layer")
NAMES = sorted(
    name
    for name in on_ai_cpu() & set(FOUND)
    if not name.split(".")[1].startswith((*_OF_STRIDES, *_OTHERS))
)


def _is_laid_out(call):
    return any(not t.is_contiguous() for t in call.tensors)


def _differ(call, results, others):
    """Whether results differ by more than the order of additions explains. Without `verdict`, which knows what the CPU
    gets wrong."""
    if not has_specified_elements(call):
        return False
    return not all(
        accuracy.compare(a, b, Tolerance(1e-3, 1e-4), check_dtype=False).is_close
        for a, b in zip(results, others, strict=True)
        if isinstance(a, torch.Tensor)
        and a.layout == torch.strided
        and not a.is_quantized
        and a.shape == b.shape
    )


def _refuses(call):
    try:
        run(call)
    except RuntimeError:
        return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_npu_reads_strides(name):
    call = laid_out(drawn(name, FOUND[name]))
    if not _is_laid_out(call):
        pytest.skip("its tensors have one layout: fewer than two elements")
    expected = run(call, dense=True)
    try:
        actual = run_on_npu(call)
    except RuntimeError as error:
        with pytest.raises(type(error)):  # a kernel that asks for contiguous tensors
            run(call)
        return
    assert not difference(call, expected, actual), call


def test_kernels_that_ignore_strides_are_known():
    """On the CPU alone: whose results for tensors with gaps are not those for contiguous copies."""
    ignoring = set()
    for name in NAMES:
        call = laid_out(drawn(name, FOUND[name]))
        if not _is_laid_out(call) or torch.Tag.nondeterministic_seeded in call.function.tags:
            continue
        dense = run(call, dense=True)
        if _refuses(call):
            continue
        if _differ(call, run(call), dense):
            ignoring.add(name.split(".")[1])
    ignoring.discard("_linalg_slogdet")  # factors the transposed matrix where that is contiguous
    assert ignoring <= set(IGNORES_STRIDES), ignoring - set(IGNORES_STRIDES)


def test_a_kernel_that_ignores_strides_is_found():
    generator = torch.Generator().manual_seed(0)
    x, weight, bias = (torch.rand(sizes, generator=generator) for sizes in ((2, 4, 6), 8, 4))
    name = "aten.native_group_norm.default"
    call = Drawn(name, (x, weight[::2], bias, 2, 4, 6, 2, 1e-5), {})
    assert _differ(call, run(call), run(call, dense=True))


def test_npu_gives_those_kernels_dense_copies():
    settings = parse.read(YAML, parse.native_functions()).settings
    dense = (
        settings.cpu_reads_dense | settings.cpu_reads_dense_weights | settings.cpu_reads_dense_lists
    )
    assert {name.split(".")[0] for name in dense} == set(IGNORES_STRIDES)
