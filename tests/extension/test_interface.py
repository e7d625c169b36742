"""An extension that uses each class and function of the extension interface, built by NpuExtension."""

import contextlib

import fresh
import gated
import pytest
import torch
from extension.building import build

import torch_npu

SOURCE = "interface.cpp"


# Of the session: a process that comes back to this module, as workers do, must not register the operators twice.
@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of the extension."""
    return build(SOURCE, tmp_path_factory.mktemp("interface"))


@pytest.fixture(scope="session")
def ops(library):
    torch.ops.load_library(library)
    return torch.ops.npu_interface


def npu(*sizes):
    return torch.randn(*sizes, device="npu")


# --- streams, guards, events


def test_streams(ops):
    default, pool, within, after, priority, same = ops.streams()
    assert default == after == torch.npu.default_stream().stream_id
    assert pool == within != default
    assert priority == torch.npu.Stream.priority_range()[1]
    assert same == 1


def test_the_current_stream_is_that_of_python(ops):
    with torch.npu.stream(torch.npu.Stream()) as _:
        stream = torch.npu.current_stream()
        assert ops.current_stream() == stream.stream_id
        assert ops.current_handle() == stream.npu_stream
    assert ops.current_stream() == torch.npu.current_stream().stream_id


def test_a_stream_of_the_program(ops):
    assert ops.external_stream()


def test_a_stream_of_another_device_is_refused(ops):
    with pytest.raises(RuntimeError, match="expected an npu stream, got one of cpu"):
        ops.use_stream(torch.Stream(stream_id=0, device_index=-1, device_type=0))


def test_stream_guards(ops):
    assert ops.stream_guards() == [1] * 6


def test_device_guards(library):
    code = (
        "import torch\n"
        f"torch.ops.load_library({str(library)!r})\n"
        "print(torch.ops.npu_interface.device_guards(1))"
    )
    assert fresh.output(code, SOFTNPU_DEVICE_COUNT="2") == "[1, 1, 0, 1, 0, 2]"


def test_a_guard_of_another_device_is_refused(ops):
    with pytest.raises(RuntimeError, match="expected an npu device, got cpu"):
        ops.guard_device(torch.device("cpu"))
    with pytest.raises(RuntimeError, match="Invalid NPU device index npu:77"):
        ops.guard_device(torch.device("npu", 77))


def test_events_order_streams(ops):
    source, target = torch.npu.Stream(), torch.npu.Stream()
    x = torch.zeros(1000, device="npu")
    torch.npu.synchronize()
    with gated.Gate(source) as gate:
        with torch.npu.stream(source):
            x += 1
        gate.open_later()
        copy, elapsed, flags = ops.events(x, source, target)
    assert copy.eq(1).all()
    assert elapsed >= 0
    assert flags


# --- memory


def test_raw_memory(ops):
    during, after, reused, known = ops.raw_memory(1 << 20)
    assert during == 1 << 20
    assert (after, reused, known) == (0, 1, 1)


@pytest.mark.parametrize("records", [True, False])
def test_a_recorded_block_waits_for_the_stream(ops, records):
    side = torch.npu.Stream()
    x = torch.empty(1 << 20, device="npu")
    address = x.data_ptr()
    torch.npu.synchronize()
    with gated.Gate(side):
        if records:
            ops.record_stream(x, side)
        del x
        found = torch.empty(1 << 20, device="npu").data_ptr()
    side.synchronize()
    assert (found != address) == records


def test_memory_of_others_as_a_tensor(ops):
    x = npu(10)
    copy, calls = ops.from_blob(x, 3)
    assert copy.equal(x[3:])
    assert calls == 1
    with pytest.raises(RuntimeError, match="bytes"):
        ops.blob_of_sizes(x, 1 << 30)
    with pytest.raises(RuntimeError):
        ops.blob_of_sizes(torch.ones(4), 4)


# --- work in stream order


@pytest.mark.parametrize("sync", [True, False])
def test_a_function_runs_in_stream_order(ops, sync):
    stream = torch.npu.Stream()
    x = torch.zeros(1000, device="npu")
    torch.npu.synchronize()
    with torch.npu.stream(stream), contextlib.ExitStack() as gates:
        if not sync:
            gates.enter_context(gated.Gate(stream))
        x += 1
        copy = ops.copy_by_lambda(x, sync)
        assert stream.query() == sync
        x += 1
        result = copy * 2
    stream.synchronize()
    assert result.eq(2).all()
    assert ops.handler(x).equal(x)


@pytest.mark.parametrize("level", ["0", "1", "2"])
def test_a_function_follows_queued_launches(library, level):
    code = (
        "import torch\n"
        f"torch.ops.load_library({str(library)!r})\n"
        "ops = torch.ops.npu_interface\n"
        "x = torch.zeros(100000, device='npu')\n"
        "for _ in range(20):\n"
        "    x += 1\n"
        "    x = ops.copy_by_lambda(ops.add(x, x, -0.5), False)\n"
        "print(x.unique().tolist())"
    )
    expected = 0.0
    for _ in range(20):
        expected = (expected + 1) / 2
    (found,) = eval(fresh.output(code, TASK_QUEUE_ENABLE=level))
    assert found == pytest.approx(expected)


def test_a_function_that_fails(ops):
    ops.fail_by_lambda(0)
    with pytest.raises(RuntimeError, match=r"MyFailure: the function returned 7\n.*ERR01100 OPS"):
        ops.fail_by_lambda(7)


def test_an_error_of_the_runtime(ops):
    with pytest.raises(RuntimeError, match=r"77[\s\S]*ERR00100 PTA call acl api failed"):
        ops.fail_in_runtime()
    with pytest.raises(RuntimeError, match="my name for it failed with error 507899"):
        ops.fail_by_name(507899)
    ops.fail_by_name(0)


def test_error_codes(ops):
    first, second = ops.error_code().strip().split("\n")
    assert first.endswith("ERR00001 PTA invalid parameter")
    assert second.endswith("ERR01007 OPS feature not supported")


def test_operators_by_their_type(ops):
    a, b = npu(3, 4), npu(3, 4)
    assert ops.typed_mul(a.t(), b.t()).equal((a * b).t())
    assert ops.typed_mul(a, b).equal(a * b)
    torch.testing.assert_close(ops.typed_sum(a, [1], [3, 1]), a.sum(1, keepdim=True))
    with pytest.raises(RuntimeError, match="NoSuchOperator"):
        ops.typed_unknown(a)


def test_hooks_of_operators(ops):
    a, b = npu(3, 4), npu(4)
    ops.seen_by_hooks()
    a + b
    assert ops.seen_by_hooks() == []
    torch.npu.set_option({"OP_HOOK_ENABLE": "enable"})
    try:
        a + b
        torch.ones(2) + 1
        torch.cat([b, b])
    finally:
        torch.npu.set_option({"OP_HOOK_ENABLE": "disable"})
    a + b
    added = ["aten::add", "before [3, 4]", "before [4]", "after [3, 4]", "end"]
    assert ops.seen_by_hooks() == [
        *added,
        "aten::cat",
        "before [4]",
        "before [4]",
        "after [8]",
        "end",
    ]


# --- aclnn, by kind of argument


def test_tensors_and_a_scalar(ops):
    a, b = npu(3, 4), npu(3, 4)
    assert ops.add(a, b.t().contiguous().t(), 2).equal(torch.add(a, b, alpha=2))
    ints = torch.arange(4, device="npu")
    assert ops.add(ints, ints, 3).tolist() == [0, 4, 8, 12]


def test_lists(ops):
    a, b = npu(2, 3), npu(4, 3)
    assert ops.cat([a, b], 0, [6, 3]).equal(torch.cat([a, b]))
    for created, before, number in zip(
        ops.add_each([a, b], [1.5, -2.0]), (a, b), (1.5, -2), strict=True
    ):
        assert created.equal(before + number)


def test_an_array_a_boolean_and_a_data_type(ops):
    x = npu(2, 3, 4)
    expected = x.double().sum([0, 2], keepdim=True)
    torch.testing.assert_close(ops.sum(x, [0, 2], True, [1, 3, 1]), expected)


@pytest.mark.parametrize("affine", [True, False])
def test_optional_tensors_and_a_double(ops, affine):
    x = npu(5, 8)
    weight, bias = (npu(8), npu(8)) if affine else (None, None)
    expected = torch.nn.functional.layer_norm(x, [8], weight, bias, 0.25)
    torch.testing.assert_close(ops.layer_norm(x, [8], weight, bias, 0.25), expected)


@pytest.mark.parametrize(("least", "most"), [(-0.5, 0.5), (None, 0.5), (-0.5, None)])
def test_optional_scalars(ops, least, most):
    x = npu(100)
    assert ops.clamp(x, least, most).equal(x.clamp(least, most))


def test_arrays_of_booleans_and_omitted_arrays(ops):
    x, weight = npu(2, 3, 8, 8).requires_grad_(), npu(4, 3, 3, 3).requires_grad_()
    out = torch.nn.functional.conv2d(x, weight)
    grad = torch.randn_like(out)
    expected = torch.autograd.grad(out, (x, weight), grad)
    for found, wanted in zip(ops.conv_gradients(grad, x, weight), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_what_aclnn_refuses_is_an_exception_with_its_text(ops):
    x = torch.ones(3, dtype=torch.cfloat, device="npu")
    with pytest.raises(RuntimeError, match=r"aclnnClamp[\s\S]*ERR01100 OPS call acl api failed"):
        ops.clamp(x, 0, 1)


def test_tensors_of_the_cpu_are_refused(ops):
    with pytest.raises(RuntimeError, match="takes npu tensors, not one of cpu"):
        ops.add(torch.ones(2), torch.ones(2), 1)
    with pytest.raises(RuntimeError, match="Expected NPU tensor"):
        ops.check_npu(torch.ones(2))
    ops.check_npu(npu(2))


def test_an_operator_that_the_library_lacks(ops):
    x = npu(3)
    assert ops.or_else(x).equal(-x)
    with pytest.raises(RuntimeError, match="aclnnNoSuchOperatorGetWorkspaceSize is not in"):
        ops.missing(x)


# --- formats, conversions, operators of npu


def test_formats(ops, monkeypatch):
    monkeypatch.setattr(torch.npu.config, "allow_internal_format", True)
    x = npu(2, 20, 4, 4)
    blocked = torch_npu.npu_format_cast(x, torch_npu.Format.NC1HWC0)
    assert ops.storage_sizes(blocked) == [2, 2, 4, 4, 16]
    assert ops.storage_sizes(x) == [2, 20, 4, 4]
    created = ops.cast_in_format(blocked)
    assert torch_npu.get_npu_format(created) == torch_npu.Format.NC1HWC0
    assert created.equal(x.relu())
    assert ops.add(blocked, blocked, 1).equal(2 * x)


def test_functions_of_namespace_npu(ops):
    x = npu(3, 8)
    torch.testing.assert_close(ops.swiglu(x), torch_npu.npu_swiglu(x))
    storage, found, size = ops.formats(npu(6), torch_npu.Format.ND)
    assert storage.tolist() == [0.0] * 6 + [7.0] * 6
    assert (found, size) == (torch_npu.Format.ND, 6)


def test_conversions(ops):
    assert ops.convert(torch.float16) == "1 Half"
    assert ops.convert(torch.int64) == "9 Long"
    number = ops.number(2.5)
    assert number.device.type == "npu"
    assert number.item() == 2.5
