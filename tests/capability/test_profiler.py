"""torch.profiler and torch.autograd.profiler: npu's activities, their times and operators."""

import json

import fresh
import pytest
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function, schedule

BOTH = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
US = 1e-3  # Kineto uses nanoseconds; sums of floats differ by less


def work():
    """All routes: aclnn, host kernels, copies, and their backward passes."""
    a = torch.ones(64, 64, device="npu", requires_grad=True)
    host = torch.ones(64, 64)
    b = (a @ host.to("npu")).relu() + a
    torch.nn.functional.conv1d(b[None], torch.ones(8, 64, 3, device="npu"))
    b.sum().backward()
    return a.grad.cpu()


def profiled(run, **options):
    with profile(activities=BOTH, **options) as prof:
        run()
    return prof


def averages(prof):
    """{name: average} of the operators; device activities have separate entries."""
    return {e.key: e for e in prof.key_averages() if e.device_type == DeviceType.CPU}


def kernels(prof):
    return [e for e in prof.events() if e.device_type == DeviceType.PrivateUse1]


def test_activity_has_the_devices_name():
    assert ProfilerActivity.PrivateUse1 == ProfilerActivity.NPU
    assert ProfilerActivity.NPU in torch.profiler.supported_activities()


def test_operators_show_device_time():
    found = averages(profiled(work))
    for name in ("aten::mm", "aten::relu", "aten::add", "aten::sum", "aten::convolution"):
        assert found[name].device_time_total > 0, name
    for name in ("aten::mm", "aten::add"):
        assert found[name].self_device_time_total > 0, name
    assert found["aten::to"].device_time_total > 0
    assert found["aten::transpose"].device_time_total == 0  # a view


def test_averages_have_the_devices_time_under_its_name():
    found = profiled(work)
    for event in (*found.key_averages(), *found.events()):
        assert event.npu_time_total == event.device_time_total
        assert event.self_npu_time_total == event.self_device_time_total
        assert event.npu_time == event.device_time
    assert averages(found)["aten::mm"].npu_time_total > 0


def test_default_activities_include_the_device():
    with profile() as prof:
        torch.ones(8, device="npu") + 1
    assert averages(prof)["aten::add"].device_time_total > 0


def test_device_activities():
    names = {e.name for e in kernels(profiled(work))}
    assert {"aclnnMm", "aclnnRelu", "aclnnConvolution", "Memcpy HtoD", "Memcpy DtoH"} <= names
    for event in kernels(profiled(work)):
        assert event.time_range.elapsed_us() > 0
        assert event.device_index == 0


def test_without_the_activity_nothing_is_recorded():
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        work()
    assert not kernels(prof)
    assert "aten::mm" in averages(prof)


def test_sums():
    prof = profiled(work)
    operators = [e for e in prof.events() if e.device_type == DeviceType.CPU]
    for event in operators:
        children = sum(child.device_time_total for child in event.cpu_children)
        own = sum(kernel.duration for kernel in event.kernels)
        assert event.device_time_total == pytest.approx(children + own, abs=US)
    roots = sum(e.device_time_total for e in operators if e.cpu_parent is None)
    assert roots == pytest.approx(sum(e.time_range.elapsed_us() for e in kernels(prof)), abs=US)


@pytest.mark.parametrize("name", ["mm", "bmm", "addmm", "baddbmm", "_convolution", "relu", "index"])
def test_an_operator_is_counted_once(name):
    x = torch.ones(4, 8, 8, device="npu")
    calls = {
        "mm": lambda: torch.mm(x[0], x[1]),
        "bmm": lambda: torch.bmm(x, x),
        "addmm": lambda: torch.addmm(x[0], x[1], x[2]),
        "baddbmm": lambda: torch.baddbmm(x, x, x),
        "_convolution": lambda: torch.nn.functional.conv1d(x, x[:2]),
        "relu": x.relu,
        "index": lambda: x[torch.tensor([0, 1], device="npu")],
    }
    prof = profiled(calls[name])
    average = averages(prof)[f"aten::{name}"]
    assert average.count == 1
    assert 0 < average.self_device_time_total <= average.device_time_total
    operator = next(e for e in prof.events() if e.name == f"aten::{name}")
    assert len(operator.kernels) == 1


def test_time_of_asynchronous_work_is_its_execution():
    a = torch.ones(1500, 1500, device="npu")
    a @ a  # the first one may time several implementations, within the call
    start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    torch.npu.synchronize()
    with profile(activities=BOTH) as prof:
        start.record()
        a @ a
        end.record()
    execution = averages(prof)["aten::mm"].device_time_total
    # No processor executes these 6.75e9 operations within 0.1 ms (67 TFLOP/s); the launch takes less.
    assert execution > 100
    assert execution <= 1000 * start.elapsed_time(end) + 1


def test_annotation_contains_its_operators():
    def run():
        with record_function("block"):
            torch.ones(64, 64, device="npu") @ torch.ones(64, 64, device="npu")

    found = averages(profiled(run))
    assert found["block"].device_time_total >= found["aten::mm"].device_time_total > 0


def test_work_after_the_end_belongs_to_no_operator(aicpu_route):
    x = torch.ones(8, device="npu")
    prof = profiled(lambda: (x + 1, torch.i0(x)))
    x * 2
    assert {e.name for e in kernels(prof)} == {"aclnnAdds", "aicpu::i0"}


def test_streams_are_rows_of_the_timeline():
    x = torch.ones(64, 64, device="npu")
    side = torch.npu.Stream()

    def run():
        x @ x
        with torch.npu.stream(side):
            x @ x
        side.synchronize()

    found = [e for e in kernels(profiled(run)) if e.name == "aclnnMm"]
    assert {e.device_resource_id for e in found} == {0, side.stream_id}


def test_table():
    prof = profiled(work)
    for key in ("self_device_time_total", "self_privateuse1_time_total", "device_time_total"):
        text = prof.key_averages().table(sort_by=key)
        assert "Self NPU" in text
        assert "aclnnMm" in text


def test_chrome_trace(tmp_path):
    prof = profiled(work, record_shapes=True, with_stack=True)
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    by_category = {}
    for event in events:
        by_category.setdefault(event.get("cat"), []).append(event)
    assert {"aten::mm", "aten::add"} <= {e["name"] for e in by_category["cpu_op"]}
    assert "aclnnMm" in {e["name"] for e in by_category["kernel"]}
    assert "Memcpy HtoD" in {e["name"] for e in by_category["gpu_memcpy"]}
    # Each device activity is linked with an operator of the trace.
    operators = {e["args"]["External id"] for e in by_category["cpu_op"]}
    assert {e["args"]["External id"] for e in by_category["kernel"]} <= operators


def test_device_work_is_within_the_trace():
    """The device's clock is converted to the host's: a kernel that the host waited for is within its operator."""
    x = torch.ones(256, 256, device="npu")
    prof = profiled(lambda: (x.cpu(), torch.npu.synchronize()))
    (copy,) = kernels(prof)
    operator = next(e for e in prof.events() if e.name == "aten::_copy_from")
    slack = 1000  # us: the clocks are compared with the precision of one synchronisation
    assert operator.time_range.start - slack <= copy.time_range.start
    assert copy.time_range.end <= operator.time_range.end + slack


def test_shapes_and_stacks():
    in_python = torch._C._profiler._ExperimentalConfig(verbose=True)
    prof = profiled(work, record_shapes=True, with_stack=True, experimental_config=in_python)
    mm = [e for e in prof.key_averages(group_by_input_shape=True) if e.key == "aten::mm"]
    assert [[64, 64], [64, 64]] in [e.input_shapes for e in mm]
    assert all(e.device_time_total > 0 for e in mm)
    stacks = [frame for e in prof.events() if e.name == "aten::mm" for frame in e.stack]
    assert any("work" in frame for frame in stacks)


def test_memory():
    prof = profiled(lambda: torch.empty(1 << 20, device="npu"), profile_memory=True)
    assert averages(prof)["aten::empty"].self_device_memory_usage == 4 << 20


def test_schedule():
    x = torch.ones(64, 64, device="npu")
    seen = []

    def ready(prof):
        seen.append([e for e in kernels(prof) if e.name == "aclnnMm"])

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(activities=BOTH, schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(8):
            x @ x
            prof.step()
    assert [len(found) for found in seen] == [2, 2]


def test_recorded_by_events():
    """The older profiler: an event before and one after each operator."""
    large = torch.ones(
        1 << 20, device="npu"
    )  # takes more than a microsecond, the resolution of times
    torch.npu.synchronize()
    with torch.autograd.profiler.profile(use_device="npu") as prof:
        work()
        result = large + 1  # kept: a dropped result need not be computed
    assert result.device.type == "npu"
    for name in ("aten::mm", "aten::add", "aten::to"):
        # A call of less than a microsecond has an average of its own: PyTorch takes it as none of events.
        assert sum(e.device_time_total for e in prof.key_averages() if e.key == name) > 0, name
    for event in prof.function_events:
        children = sum(child.device_time_total for child in event.cpu_children)
        # Each time is truncated to microseconds.
        assert event.device_time_total + len(event.cpu_children) + 1 >= children, event.name
    assert "Self NPU" in prof.key_averages().table(sort_by="self_device_time_total")


def test_events_time_the_execution():
    a = torch.ones(1500, 1500, device="npu")
    torch.npu.synchronize()
    with torch.autograd.profiler.profile(use_device="npu") as prof:
        a @ a
    assert averages(prof)["aten::mm"].device_time_total > 100


SECOND_DEVICE = """
import torch
from torch.profiler import profile
x = torch.ones(64, 64, device="npu:1")
with profile() as prof:
    x @ x
    x + 1
work = [(e.name, e.device_index) for e in prof.events() if e.device_type == torch.autograd.DeviceType.PrivateUse1]
print(sorted(work))
"""


def test_second_device():
    text = fresh.output(SECOND_DEVICE, SOFTNPU_DEVICE_COUNT="2")
    assert text.splitlines()[-1] == "[('aclnnAdds', 1), ('aclnnMm', 1)]"
