"""Errors: failures of queued work, and the behaviour of programs that are interrupted or never wait."""

from pathlib import Path

import fresh
import pytest
import torch

import torch_npu

OUT_OF_RANGE = """
import torch
x = torch.randn(10, 4, device="npu")
y = x[torch.tensor([1, 99], device="npu")]
"""


def test_a_program_that_never_waits_ends_with_the_error():
    result = fresh.run(OUT_OF_RANGE + "print('end', flush=True)")
    assert result.returncode == 1
    assert result.stdout == "end\n"
    for part in (
        "aclnnIndex",
        "float32[10, 4]",
        "stream",
        "index 99 is out of range for dimension 0 of size 10",
    ):
        assert part in result.stderr
    assert result.stderr.count("ASCEND_LAUNCH_BLOCKING=1") == 1


@pytest.mark.parametrize("wrong", ["raise SystemExit(7)", "import os; os._exit(7)"])
def test_an_explicit_exit_code_is_kept(wrong):
    assert fresh.run(OUT_OF_RANGE + wrong).returncode == 7


def test_a_program_that_caught_the_error_exits_normally():
    caught = "try: torch.npu.synchronize()\nexcept IndexError as e: print('caught')"
    assert fresh.output(OUT_OF_RANGE + caught) == "caught"


def test_the_line_is_found_by_blocking_launches():
    result = fresh.run(OUT_OF_RANGE, ASCEND_LAUNCH_BLOCKING="1")
    assert result.returncode == 1
    assert "line 4, in <module>" in result.stderr
    assert "ASCEND_LAUNCH_BLOCKING" not in result.stderr


@pytest.mark.parametrize(
    "wait",
    [torch.npu.synchronize, lambda: torch.npu.current_stream().synchronize(), lambda: torch.ones(1, device="npu").cpu()],
    ids=["device", "stream", "copy"],
)  # fmt: skip
def test_an_index_out_of_range_is_an_index_error(wait):
    torch.ones(3, device="npu")[torch.tensor([5], device="npu")]
    with pytest.raises(IndexError, match="index 5 is out of range") as raised:
        wait()
    assert str(raised.value).count("ASCEND_LAUNCH_BLOCKING=1") == 1
    torch.npu.synchronize()  # reported once


@pytest.mark.parametrize("wait", [torch.npu.synchronize, lambda: torch.ones(1, device="npu").cpu()])
@pytest.mark.parametrize("replacement", [True, False])
def test_too_few_probabilities_name_the_operator_and_the_line(replacement, wait):
    shares = torch.zeros(2, 4, device="npu")
    shares[0] = 1
    samples = [torch.multinomial(shares, 2, replacement)]  # this line
    assert samples[0].shape == (2, 2)  # sizes need no wait
    with pytest.raises(RuntimeError, match="row 1 has 0 probabilities above 0") as raised:
        wait()
    lines = Path(__file__).read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "samples = [torch.multinomial" in line)
    assert "aclnnMultinomial" in str(raised.value)
    assert f"called at {__file__}:{number}: row 1" in str(raised.value)
    torch.npu.synchronize()  # reported once


def test_the_line_of_a_later_call_without_errors_is_not_named():
    good, bad = torch.ones(3, device="npu"), torch.tensor([1.0, 0.0, -1.0], device="npu")
    torch.multinomial(bad, 1)
    torch.multinomial(good, 1)
    with pytest.raises(RuntimeError, match=r"probability -1") as raised:
        torch.npu.synchronize()
    assert str(raised.value).count("called at") == 1


INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, "tests")
import gated, torch

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
for wait in sys.argv[1:]:
    call = eval(f"lambda: {wait}")
    x = torch.arange(4.0, device="npu")
    event = torch.npu.Event()
    torch.npu.synchronize()
    gate, ends = threading.Event(), []
    gated.launch(torch.npu.current_stream(), lambda: ends.append(gate.wait(timeout=60)))
    y = x + 1
    event.record()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        call()
        print("not interrupted", end=" ")
    except KeyboardInterrupt:
        print("interrupted", ends, end=" ")
    gate.set()
    print(y.tolist(), ends)
"""
WAITS = [
    "torch.npu.synchronize()",
    "torch.accelerator.synchronize()",
    "torch.npu.current_stream().synchronize()",
    "event.synchronize()",
    "y.cpu()",
    "y.tolist()",
    "y[0].item()",
    "y.nonzero()",
    "torch.empty(4).copy_(y)",
    "x.copy_(torch.empty(4).pin_memory())",
]


def test_an_interrupt_ends_the_wait_but_not_the_task():
    found = fresh.output(INTERRUPTED, *WAITS).splitlines()
    wanted = "interrupted [] [1.0, 2.0, 3.0, 4.0] [True]"
    assert dict(zip(WAITS, found, strict=True)) == dict.fromkeys(WAITS, wanted)


COMPLEX = torch.complex64
CPU_KERNELS = {
    "histogram": lambda x: torch.histogram(x.to(COMPLEX), 4),
    "histc": lambda x: torch.histc(x.bool()),
    "mode": lambda x: torch.mode(x.to(COMPLEX)),
    "kthvalue": lambda x: torch.kthvalue(x.to(COMPLEX), 1),
    "bernoulli": lambda x: torch.bernoulli(x.int()),
    "lgamma": lambda x: torch.lgamma(x.to(COMPLEX)),
    "bincount": lambda x: torch.bincount(x),
    "median": lambda x: torch.median(x.to(COMPLEX)),
    "mm": lambda x: torch.mm(x[None].bool(), x[:, None].bool()),
    "addmm": lambda x: torch.addmm(x[None, :1].bool(), x[None].bool(), x[:, None].bool()),
}


@pytest.mark.parametrize("name", CPU_KERNELS)
@pytest.mark.parametrize("fallback", ["npu", "cpu"])
def test_errors_name_the_operator_and_no_cpu_kernel(name, fallback):
    torch.npu.set_operator_fallback(fallback)
    try:
        with pytest.raises(Exception, match=name) as raised:  # the types are PyTorch's
            CPU_KERNELS[name](torch.ones(3, device="npu"))
    finally:
        torch.npu.set_operator_fallback(None)
    assert "_cpu" not in str(raised.value)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)  # fmt: skip
def test_histogram_of_integers(dtype):
    x = torch.tensor([0, 3, 3, 7, 7, 7, 100], dtype=dtype)
    for options in ({"bins": 8, "min": 0, "max": 7}, {"bins": 5}, {"bins": 3, "min": 2, "max": 7}):
        found = torch.histc(x.npu(), **options)
        assert found.dtype == dtype
        assert found.tolist() == torch.histc(x.double(), **options).tolist()
    assert torch.histc(x[:1].npu(), bins=3).tolist() == [0, 1, 0]


def test_unknown_names_get_a_suggestion():
    with pytest.raises(AttributeError, match="did you mean 'npu_format_cast'"):
        torch_npu.npu_format_cas  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'synchronize'"):
        torch.npu.synchronise  # noqa: B018
    assert not hasattr(torch_npu, "xyzzy_quux")
    for options in (torch.npu.config, torch.npu.matmul, torch.npu.conv):
        with pytest.raises(AttributeError, match="allow_everything"):
            options.allow_everything = True
        assert not hasattr(options, "allow_everything")


def test_elapsed_time_needs_timing_events():
    start, end = torch.npu.Event(), torch.npu.Event(enable_timing=True)
    start.record()
    end.record()
    torch.npu.synchronize()
    for first, second in ((start, end), (end, start)):
        with pytest.raises(ValueError, match="enable_timing=True"):
            first.elapsed_time(second)


@pytest.mark.parametrize("device", [99, "npu:99", torch.device("npu", 99)], ids=str)
def test_the_name_of_a_device_that_does_not_exist(device):
    with pytest.raises(RuntimeError, match="npu:99"):
        torch.npu.get_device_name(device)


def test_npu_operators_name_argument_and_device():
    cpu, npu = torch.ones(2, 4), torch.ones(2, 4, device="npu")
    with pytest.raises(RuntimeError, match="npu::npu_swiglu: input is on cpu"):
        torch_npu.npu_swiglu(cpu)
    with pytest.raises(RuntimeError, match=r"npu::npu_rms_norm: gamma is .*on cpu"):
        torch_npu.npu_rms_norm(npu, cpu[0])
    with pytest.raises(RuntimeError, match=r"npu::npu_rms_norm: .* on cpu"):
        torch_npu.npu_rms_norm(cpu, cpu[0])


OVERDUE = """
import sys, threading
sys.path.insert(0, "tests")
import gated, torch

slow, other = torch.npu.Stream(), torch.npu.Stream()
event = torch.npu.Event()
gate, runs = threading.Event(), threading.Event()
x = torch.arange(4.0, device="npu")
torch.npu.synchronize()
gated.launch(slow, lambda: (runs.set(), gate.wait()))
with torch.npu.stream(slow):
    y = x + 1
    event.record()
runs.wait()
torch.npu.set_op_timeout_ms(50)
for wait in (slow.synchronize, event.synchronize, torch.npu.synchronize, lambda: y.cpu()):
    try:
        with torch.npu.stream(slow):
            wait()
        print("no error")
    except RuntimeError as error:
        print("python on stream" in str(error) and "runs for longer than 50000 us" in str(error), end=" ")
torch.npu.set_op_timeout_ms(0)
with torch.npu.stream(other):
    print((x * 2).tolist(), end=" ")
gate.set()
slow.synchronize()
print(y.tolist())
"""


def test_an_operator_timeout_ends_only_the_waits():
    found = fresh.output(OVERDUE)
    assert found == "True True True True [0.0, 2.0, 4.0, 6.0] [1.0, 2.0, 3.0, 4.0]"


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="set_op_timeout_ms: -1 ms"):
        torch.npu.set_op_timeout_ms(-1)


def test_host_memory_exhaustion_is_out_of_memory():
    grad, x, weight = (
        torch.ones(*shape, device="npu") for shape in ((1, 4, 2, 1), (1, 2, 4, 3), (4, 2, 3, 4))
    )
    rest = ([2, 2], [1, 2**32 + 1], [1, 1], False, [0, 0], 1, [True, False, False])
    with pytest.raises(torch.OutOfMemoryError, match="convolution_backward on npu: the host"):
        torch.ops.aten.convolution_backward(grad, x, weight, [0], *rest)


def test_a_gradient_of_another_shape_is_refused():
    x, mean = torch.ones(2, 2, 3, device="npu"), torch.ones(2, 1, 1, device="npu")
    with pytest.raises(RuntimeError, match=r"normalized_shape is \[2, 0\]"):
        torch.ops.aten.native_layer_norm_backward(
            x, x, [2, 0], mean, mean, None, None, [False, False, True]
        )


def test_arguments_that_kernels_would_read_beyond_are_refused():
    with pytest.raises(RuntimeError, match="tensor 1 of the list has no dimensions"):
        torch._chunk_cat([torch.ones(2).npu(), torch.tensor(1.0).npu()], 0, 1)
    lu, pivots = torch.randn(3, 3).npu(), torch.tensor([1, 2], dtype=torch.int32).npu()
    with pytest.raises(RuntimeError, match=r"lu_unpack: LU_pivots has the shape \[2\]"):
        torch.lu_unpack(lu, pivots)
    x, two, none = torch.ones(2, 2, 3).npu(), torch.ones(2).npu(), torch.ones(0).npu()
    aten = torch.ops.aten
    with pytest.raises(RuntimeError, match="running_mean is missing, which training=False needs"):
        aten.native_batch_norm(x, None, None, None, None, False, 0.1, 1e-5)
    with pytest.raises(RuntimeError, match="running_var has 0 elements where the input has 2"):
        aten.native_batch_norm(x, None, None, two, none, True, 0.1, 1e-5)
    mask = [True, False, False]
    with pytest.raises(RuntimeError, match="running_mean is missing, which train=False needs"):
        aten.native_batch_norm_backward(x, x, None, None, None, two, two, False, 1e-5, mask)
    with pytest.raises(RuntimeError, match="save_mean has 0 elements"):
        aten.native_batch_norm_backward(x, x, None, two, two, none, none, True, 1e-5, mask)
    whole = torch.ones(5, 5, dtype=torch.int32).npu()
    with pytest.raises(RuntimeError, match=r"beta is 0\.5, which is 0 as one of the Int values"):
        aten.smooth_l1_loss_backward(whole[0, 0], whole, whole, 1, 0.5)


def test_products_of_different_types_are_refused():
    x, a, b = torch.ones(2, 3, 4).bfloat16(), torch.ones(2, 3, 5), torch.ones(2, 5, 4)
    with pytest.raises(RuntimeError, match="Input dtypes must be the same"):
        torch.baddbmm(x.npu(), a.npu(), b.npu())
