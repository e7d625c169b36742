"""Operators raise the version counters of what they write, as on the CPU, and refuse inference tensors as it does."""

import warnings
import zlib

import pytest
import torch

import torch_npu
from versions import calls, observe
from versions.differences import RAISED_ON_NPU_ALONE, REFUSED, RESIZED
from versions.schemas import Overload, mutable, written

GROUPS = 8
ATEN = tuple(mutable("aten"))
NPU = tuple(f for f in mutable("npu") if f.name() not in torch_npu.custom_ops.NOT_IMPLEMENTED)


@pytest.fixture(scope="module")
def known() -> calls.Calls:
    return calls.Calls()


def group_of(function: Overload) -> int:
    """Stays when another operator is added."""
    return zlib.crc32(function.name().encode()) % GROUPS


def accepted(function: Overload, known: calls.Calls):
    """The first call that the CPU accepts, and what it raises."""
    error = None
    for given in known.of(function):
        try:
            sized = observe.with_sized_outputs(function, given)
            return sized, observe.observe(function, sized, "cpu").raised
        except Exception as why:
            error = why
    raise AssertionError(
        f"{function.name()} has no call that the CPU accepts: python -m versions.search ({error})"
    )


def expected_on_npu(
    function: Overload, on_cpu: dict[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    """What npu has to raise, given what the CPU does."""
    more = RESIZED.get(function.name(), 0)
    if not RAISED_ON_NPU_ALONE.match(function.name()):
        return {name: tuple(n + more for n in by) for name, by in on_cpu.items()}
    lists = {a.name for a in function._schema.arguments if isinstance(a.type, torch.ListType)}
    assert not any(any(on_cpu[name]) for name in lists & set(on_cpu)), "the CPU raises them now"
    return {name: tuple(1 for _ in by) if name in lists else by for name, by in on_cpu.items()}


def problems(function: Overload, known: calls.Calls) -> list[str]:
    """What differs for one operator, and the lazy clones that it changes."""
    name = function.name()
    given, on_cpu = accepted(function, known)
    try:
        observed = observe.observe(function, given, "npu")
    except Exception as error:
        return [] if name in REFUSED else [f"{name}: npu refuses it: {str(error)[:300]}"]
    found = []
    on_npu = observed.raised
    if observed.changed_clones:
        found.append(f"{name}: writes lazy clones of {', '.join(observed.changed_clones)}")
    expected = expected_on_npu(function, on_cpu)
    if on_npu != expected:
        found.append(f"{name}: raised by {on_npu}, expected {expected}")
    allowed = [observe.updates_inference_tensors(function, given, d) for d in ("cpu", "npu")]
    # What raises no counter has nothing to refuse.
    allowed[0] = allowed[0] and not RAISED_ON_NPU_ALONE.match(name)
    if allowed[0] != allowed[1]:
        found.append(f"{name}: updates inference tensors outside inference mode: {allowed[1]}")
    return found


@pytest.mark.parametrize("group", range(GROUPS))
def test_counters_are_raised_as_on_the_cpu(group: int, known) -> None:
    unknown = calls.found()
    functions = [f for f in ATEN if group_of(f) == group and unknown.get(f.name(), "0").isdigit()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [problem for function in functions for problem in problems(function, known)]
    assert not found, "\n".join(found)


def test_every_operator_has_a_call_or_a_reason() -> None:
    names = {f.name() for f in ATEN}
    listed = calls.found()
    assert set(listed) <= names, "python -m versions.search"
    reasons = {name: text for name, text in listed.items() if not text.isdigit()}
    print(f"{len(names)} operators of ATen write arguments; {len(names) - len(reasons)} are called")
    lists = {
        f.name()
        for f in ATEN
        if any(
            isinstance(a.type, torch.ListType) for a in f._schema.arguments if a.name in written(f)
        )
    }
    by_hand = {name for name in lists & set(reasons) if name.split(".")[0].endswith("_")}
    assert not by_hand, f"operators on lists have to be called: {by_hand}"


def convolved(dims: int) -> dict:
    """Arguments of a convolution of one image of 2 channels and size 4 to 3 channels."""
    return {
        "input": torch.randn(1, 2, *[4] * dims),
        "weight": torch.randn(3, 2, *[3] * dims),
        "bias": torch.randn(3),
        "stride": [1] * dims,
        "padding": [1] * dims,
        "dilation": [1] * dims,
        "groups": 1,
    }


def added_groups() -> dict[str, torch.Tensor]:
    """Groups of scaled values that are multiplied and added."""
    ends = torch.tensor([64, 128])
    (a, a_scale), (b, b_scale) = (
        torch_npu.npu_grouped_dynamic_mx_quant(
            torch.randn(128, columns, device="npu"), ends.int().npu(), dst_type=24
        )
        for columns in (3, 5)
    )
    given = {"input": torch.randn(2, 3, 5), "x1": a.t(), "x2": b, "x2_scale": b_scale}
    return given | {"group_list": ends, "x1_scale": a_scale.transpose(0, 1)}


NPU_CALLS = {
    "npu::_npu_index_add_": lambda: {
        "input": torch.randn(3, 4),
        "index": torch.tensor([[2, 0]]),
        "source": torch.randn(1, 2, 4),
    },
    "npu::copy_memory_": lambda: {"input": torch.randn(3, 4), "src": torch.randn(3, 4)},
    "npu::npu_broadcast.out": lambda: {
        "input": torch.randn(2, 6),
        "size": [3, 2, 6],
        "out": torch.empty(3, 2, 6),
    },
    "npu::npu_conv2d.out": lambda: {**convolved(2), "out": torch.empty(1, 3, 4, 4)},
    "npu::npu_conv3d.out": lambda: {**convolved(3), "out": torch.empty(1, 3, 4, 4, 4)},
    "npu::npu_dtype_cast_": lambda: {"input": torch.randn(4), "src": torch.arange(4)},
    "npu::npu_gather_pa_kv_cache": lambda: {
        "key_cache": torch.randn(6, 3, 2, 4),
        "value_cache": torch.randn(6, 3, 2, 5),
        "block_tables": torch.tensor([[5, 0, 3], [2, 1, -1]]),
        "seq_lens": torch.tensor([7, 4]),
        "key": torch.zeros(11, 2, 4),
        "value": torch.zeros(11, 2, 5),
    },
    "npu::npu_indexing.out": lambda: {
        "input": torch.randn(2, 6),
        "begin": [0, 1],
        "end": [2, 5],
        "strides": [1, 2],
        "out": torch.empty(2, 2),
    },
    "npu::npu_quant_scatter_": lambda: {
        "input": torch.zeros(2, 5, 3, dtype=torch.int8),
        "indices": torch.tensor([0, 4]),
        "updates": torch.ones(2, 1, 3),
        "quant_scales": torch.full((3,), 0.5),
    },
    "npu::npu_reshape.out": lambda: {
        "input": torch.randn(2, 6),
        "shape": [3, 4],
        "out": torch.empty(3, 4),
    },
    "npu::npu_sim_exponential_": lambda: {"input": torch.randn(4)},
    "npu::npu_slice.out": lambda: {
        "input": torch.randn(2, 6),
        "offsets": [0, 1],
        "size": [2, 3],
        "out": torch.empty(2, 3),
    },
    "npu::npu_sort_v2.out": lambda: {"input": torch.randn(2, 6), "out": torch.empty(2, 6)},
    "npu::npu_stride_copy.out": lambda: {
        "input": torch.randn(2, 6),
        "shape": [2, 2],
        "stride": [3, 1],
        "storage_offset": 1,
        "out": torch.empty(2, 2),
    },
    "npu::npu_view_copy": lambda: {
        "input": torch.randn(3, 4),
        "other": torch.randn(3, 4),
        "non_blocking": False,
    },
    "npu::one_": lambda: {"input": torch.randn(3)},
    "npu::scatter_update_": lambda: {
        "input": torch.zeros(2, 5, 3),
        "indices": torch.tensor([1, 3]),
        "updates": torch.ones(2, 2, 3),
        "axis": 1,
    },
    "npu::npu_format_cast_": lambda: {"input": torch.randn(3), "src": torch.randn(3)},
    "npu::npu_format_cast_.acl_format": lambda: {"input": torch.randn(2, 3), "acl_format": 2},
    "npu::npu_advance_step_flashattn": lambda: {
        "input_tokens": torch.zeros(4).long(),
        "sampled_token_ids": torch.tensor([[11], [12], [13]]),
        "input_positions": torch.full((4,), 7),
        "seq_lens": torch.tensor([3, 8, 5, 2]),
        "slot_mapping": torch.zeros(4).long(),
        "block_tables": torch.arange(12).reshape(4, 3),
        "num_seqs": 4,
        "num_queries": 3,
        "block_size": 4,
    },
    "npu::npu_add_quant_gmm_": added_groups,
    "npu::npu_add_quant_matmul_": lambda: {
        "input": torch.randn(3, 5),
        "x1": torch.randn(3, 64).to(torch.float8_e4m3fn),
        "x2": torch.randn(64, 5).to(torch.float8_e4m3fn),
        "x2_scale": torch.full((1, 5, 2), 127, dtype=torch.uint8),
        "x1_scale": torch.full((3, 1, 2), 127, dtype=torch.uint8),
        "group_sizes": [1, 1, 32],
        "x1_scale_dtype": torch_npu.float8_e8m0fnu,
    },
    "npu::npu_fused_causal_conv1d": lambda: {
        "x": torch.randn(2, 3, 4),
        "weight": torch.randn(3, 4),
        "conv_states": torch.randn(5, 3, 4),
    },
    "npu::npu_mla_prolog_v3": lambda: {
        "token_x": torch.randn(2, 3, 12),
        "weight_dq": torch.randn(12, 6),
        "weight_uq_qr": torch.randn(6, 16),
        "weight_uk": torch.randn(2, 4, 32),
        "weight_dkv_kr": torch.randn(12, 36),
        "rmsnorm_gamma_cq": torch.randn(6),
        "rmsnorm_gamma_ckv": torch.randn(32),
        "rope_sin": torch.randn(2, 3, 4),
        "rope_cos": torch.randn(2, 3, 4),
        "kv_cache": torch.zeros(3, 4, 1, 32),
        "kr_cache": torch.zeros(3, 4, 1, 4),
        "cache_index": torch.tensor([[7, 0, 2], [1, 11, 5]]),
    },
    "npu::npu_grouped_matmul_add_": lambda: {
        "input": torch.randn(2, 3, 4),
        "x": torch.randn(5, 3).half(),
        "weight": torch.randn(5, 4).half(),
        "group_list": torch.tensor([2, 5]),
    },
    "npu::npu_recurrent_gated_delta_rule": lambda: {
        "query": torch.randn(5, 2, 3),
        "key": torch.randn(5, 2, 3),
        "value": torch.randn(5, 4, 2),
        "state": torch.randn(6, 4, 2, 3),
        "beta": torch.rand(5, 4),
        "actual_seq_lengths": torch.tensor([3, 2]).int(),
        "ssm_state_indices": torch.tensor([5, 0, 2, 4, 1]).int(),
        "g": -torch.rand(5, 4),
    },
    "npu::npu_scatter_pa_cache.value": lambda: {
        "key": torch.randn(3, 2, 8),
        "slot_mapping": torch.tensor([7, 0, -1]),
        "key_cache": torch.zeros(4, 3, 2, 8),
    },
    "npu::npu_scatter_nd_update_": lambda: {
        "input": torch.randn(3, 4),
        "indices": torch.tensor([[0], [2]]),
        "updates": torch.randn(2, 4),
    },
    "npu::npu_scatter_pa_kv_cache": lambda: {
        "key": torch.randn(3, 2, 4),
        "value": torch.randn(3, 2, 4),
        "key_cache": torch.zeros(2, 3, 2, 4),
        "value_cache": torch.zeros(2, 3, 2, 4),
        "slot_mapping": torch.tensor([0, 5, 2]),
        "cache_mode": "Norm",
    },
    "npu::npu_silu_": lambda: {"input": torch.randn(3)},
    "npu::npu_transpose.out": lambda: {
        "input": torch.randn(2, 3),
        "perm": [1, 0],
        "out": torch.empty(3, 2),
    },
}


@pytest.mark.parametrize("function", NPU, ids=lambda f: f.name())
def test_operators_of_npu_raise_by_one(function: Overload) -> None:
    given = NPU_CALLS[function.name()]()
    observed = observe.observe(function, given, "npu")
    raised = observed.raised
    assert raised
    assert not observed.changed_clones
    assert all(by == 1 for listed in raised.values() for by in listed)
    assert not observe.updates_inference_tensors(function, given, "npu")


def cubes(step) -> torch.Tensor:
    """The second gradient of w^3 after ``step(w)`` has updated w."""
    w = torch.nn.Parameter(torch.ones(3, device="npu"))
    y = (w * w * w).sum()
    y.backward(retain_graph=True)
    step(w)
    w.grad = None
    y.backward()
    return w.grad


OPTIMIZERS = {
    "SGD": lambda w, **how: torch.optim.SGD([w], 0.5, **how),
    "Adam": lambda w, **how: torch.optim.Adam([w], 0.5, **how),
    "AdamW": lambda w, **how: torch.optim.AdamW([w], 0.5, **how),
    "Adagrad": lambda w, **how: torch.optim.Adagrad([w], 0.5, **how),
    "RMSprop": lambda w, **how: torch.optim.RMSprop([w], 0.5, **how),
}


@pytest.mark.parametrize(
    "how", [{}, {"foreach": True}, {"foreach": False}, {"fused": True}], ids=str
)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_step_between_two_backward_passes_is_an_error(optimizer: str, how: dict) -> None:
    if "fused" in how and optimizer == "RMSprop":
        pytest.skip("PyTorch has no fused RMSprop")
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        cubes(lambda w: OPTIMIZERS[optimizer](w, **how).step())


def test_clipping_raises_the_gradients() -> None:
    w = torch.nn.Parameter(torch.ones(3, device="npu"))
    (w * 4).sum().backward()
    before = w.grad._version
    torch.nn.utils.clip_grad_norm_([w], 1.0)
    assert w.grad._version == before + 1


def test_unscaling_raises_the_gradients() -> None:
    w = torch.nn.Parameter(torch.ones(3, device="npu"))
    optimizer = torch.optim.SGD([w], 0.5)
    scaler = torch.amp.GradScaler("npu")
    scaler.scale((w * 4).sum()).backward()
    before = w.grad._version
    scaler.unscale_(optimizer)
    assert w.grad._version == before + 1


# aclnn takes the first, PyTorch's composition the second and third: other strides, and an operator without an entry.
LISTS = {
    "aclnn": lambda: (torch._foreach_add_, [torch.ones(3), torch.ones(2, 2)]),
    "strided": lambda: (torch._foreach_add_, [torch.ones(3, 4)[:, ::2], torch.ones(3)]),
    "composed": lambda: (torch._foreach_round_, [torch.ones(3), torch.ones(2, 2)]),
}


@pytest.mark.parametrize("route", LISTS)
def test_inference_mode(route: str) -> None:
    function, tensors = LISTS[route]()
    more = () if function is torch._foreach_round_ else (1,)
    plain = [t.npu() for t in tensors]
    with torch.inference_mode():
        result = [t.npu() for t in tensors]
        function(result, *more)
        function(plain, *more)
    assert [t._version for t in plain] == [1, 1]
    with pytest.raises(RuntimeError, match=observe.INFERENCE):
        function(result, *more)


def test_kernels_on_copies_raise_by_one(host_copies) -> None:
    tensors = {
        name: [torch.ones(3, device="npu")] for name in ("self", "grads", "momentum_buffer_list")
    }
    torch._fused_sgd_(*tensors.values(), weight_decay=0.0, momentum=0.9, lr=0.5, dampening=0.0, nesterov=False,
                      maximize=False, is_first_step=False)  # fmt: skip
    assert [t._version for listed in tensors.values() for t in listed] == [1, 1, 1]
    lists = [torch.ones(3, device="npu", dtype=torch.complex64)]
    torch._foreach_add_(lists, 1)
    assert lists[0]._version == 1


def test_a_refused_call_raises_no_counter() -> None:
    lists = [torch.ones(3, device="npu")]
    with pytest.raises(RuntimeError):
        torch._foreach_add_(lists, [torch.ones(4, device="npu")])
    assert lists[0]._version == 0
