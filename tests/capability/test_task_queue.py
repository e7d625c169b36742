"""TASK_QUEUE_ENABLE: results, order and errors are the same at every level."""

import json

import fresh
import pytest

LEVELS = ("0", "1", "2")

# Training, copies in both directions, a second stream with an event, a product that needs a workspace, and frees of
# tensors in use.
WORK = """
import json, torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 8))
model = model.to("npu")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
generator = torch.Generator().manual_seed(1)
pictures, classes = torch.randn(32, 64, generator=generator), torch.randint(8, (32,), generator=generator)
side, losses = torch.npu.Stream(), []
for step in range(20):
    x = pictures.pin_memory().to("npu", non_blocking=True)
    target = classes.to("npu")
    loss = torch.nn.functional.cross_entropy(model(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    event = torch.npu.Event()
    event.record()
    with torch.npu.stream(side):
        side.wait_event(event)
        turned = (x.t() @ x).half().float().cumsum(0)  # x and turned live on two streams
        turned.record_stream(torch.npu.current_stream())
    torch.npu.current_stream().wait_stream(side)
    losses.append((loss + 0 * turned.sum()).item())
    if step == 10:
        torch.npu.empty_cache()
torch.npu.synchronize()
print(json.dumps(losses))
"""


def output(code: str, level: str) -> str:
    return fresh.output(code, TASK_QUEUE_ENABLE=level)


def test_every_level_computes_the_same():
    losses = {level: json.loads(output(WORK, level)) for level in LEVELS}
    assert losses["0"][-1] < losses["0"][0]
    assert losses["1"] == losses["0"]
    assert losses["2"] == losses["0"]


@pytest.mark.parametrize("level", LEVELS)
def test_an_error_of_the_device_is_raised_by_the_next_wait(level):
    code = """
import torch
table = torch.ones(4, 2, device="npu")
row = torch.nn.functional.embedding(torch.tensor([9], device="npu"), table)
try:
    torch.npu.synchronize()
except IndexError as error:
    print("told", "9" in str(error))
print((table + 1).sum().item())
"""
    assert output(code, level).split() == ["told", "True", "16.0"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_may_end_with_queued_launches(level):
    code = """
import torch
a = torch.ones(256, 256, device="npu")
for _ in range(3000):
    b = a @ a
print("done")
"""
    assert output(code, level) == "done"


def test_an_unknown_level_is_reported():
    code = "import torch; print((torch.ones(2, device='npu') + 1).sum().item())"
    done = fresh.run(code, TASK_QUEUE_ENABLE="7")
    assert done.stdout == "4.0\n"
    assert "TASK_QUEUE_ENABLE=7 is not understood: it takes 0, 1 or 2" in done.stderr


def test_the_level_changes_while_a_program_runs():
    code = """
import torch
a = torch.ones(128, 128, device="npu")
for level in (1, 0, 2, "1", 0):
    torch.npu.set_task_queue_enable(level)
    assert torch.npu.get_task_queue_enable() == int(level)
    for _ in range(50):
        a = (a @ a).clamp(max=1)
assert a.sum().item() == 128 * 128
try:
    torch.npu.set_task_queue_enable(3)
except RuntimeError as error:
    print("mode must be 0, 1, or 2, but got 3." in str(error))
"""
    assert output(code, "0") == "True"


def test_blocking_launches_disable_the_task_queue():
    code = """
import torch
torch.npu.set_task_queue_enable(2)
print(torch.npu.get_task_queue_enable())
"""
    assert fresh.output(code, TASK_QUEUE_ENABLE="1", ASCEND_LAUNCH_BLOCKING="1") == "0"
