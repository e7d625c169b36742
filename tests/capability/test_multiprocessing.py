"""npu tensors sent to a spawned process: one memory, two processes."""

import concurrent.futures
import glob
import os
import pickle
import signal
import threading

import fresh
import memory_use
import pytest
import sharing_child
import torch
import torch.multiprocessing as mp
from sharing_child import child


def test_writes_are_visible_in_both_processes():
    tensors = [
        torch.arange(6, dtype=torch.float32, device="npu").view(2, 3),
        torch.arange(6, dtype=torch.float32, device="npu").view(2, 3).t()[1:],
        torch.ones(1 << 20, device="npu"),
        torch.ones(3, dtype=torch.bfloat16, device="npu"),
        torch.empty(0, device="npu"),
    ]
    with child(sharing_child.double_in_place) as (send, answer, _):
        for tensor in tensors:
            expected = tensor.cpu() * 2
            send.put(tensor)
            assert answer() == (expected.double().sum().item(), "npu", False)
            assert torch.equal(tensor.cpu(), expected)
        send.put(None)


def test_work_in_the_queue_is_done_before_it_is_sent():
    a = torch.full((1200, 1200), 0.5, device="npu")
    product = a @ a
    with child(sharing_child.double_in_place) as (send, answer, _):
        send.put(product)
        assert answer()[0] == 1200 * 1200 * 600.0
        send.put(None)


def test_work_on_another_stream_is_done_before_it_is_sent():
    a = torch.full((1200, 1200), 0.5, device="npu")
    torch.npu.synchronize()
    with child(sharing_child.double_in_place) as (send, answer, _):
        with torch.npu.stream(torch.npu.Stream()):
            product = a @ a
            send.put(product)  # pickled on the queue's own thread
        assert answer()[0] == 1200 * 1200 * 600.0
        send.put(None)


def test_sharing_by_several_threads_does_not_move_a_tensor():
    tensors = [torch.full((100,), float(i), device="npu") for i in range(50)]
    places = [t.data_ptr() for t in tensors]
    barrier = threading.Barrier(4)

    def share():
        for tensor in tensors:
            barrier.wait()
            mp.reductions.reduce_tensor(tensor)
            assert (tensor + 0).eq(tensor).all()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(share) for _ in range(4)]:
            done.result()
    assert [t.data_ptr() for t in tensors] == places
    assert all(t.eq(i).all() for i, t in enumerate(tensors))


@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_shared_memory_is_leaked(end):
    program = f"""
import glob, os, signal, torch
x = torch.ones(10, device="npu")
torch.multiprocessing.reductions.reduce_tensor(x)
mine = f"/dev/shm/torch_{{os.getpid()}}_*"
assert glob.glob(mine) == []
print(mine, flush=True)
{end}
"""
    result = fresh.run(program)
    assert result.returncode == (0 if end == "pass" else -signal.SIGKILL), result.stderr
    assert glob.glob(result.stdout.strip()) == []


def test_expandable_segments_of_one_piece_are_shared():
    program = """
import pytest, torch
from torch.multiprocessing.reductions import reduce_tensor
small = torch.ones(1000, device="npu")
rebuild, arguments = reduce_tensor(small)
assert arguments[8] == 4000
large = torch.ones(30 << 20, dtype=torch.uint8, device="npu")
with pytest.raises(RuntimeError, match="mapped from several pieces of memory"):
    reduce_tensor(large)
print(small.sum().item(), large.eq(1).all().item())
"""
    conf = "expandable_segments:True"
    assert fresh.output(program, PYTORCH_NPU_ALLOC_CONF=conf) == "1000.0 True"


def test_memory_lives_as_long_as_a_receiver():
    before = memory_use.settled()
    x = torch.full((30 << 20,), 3, dtype=torch.uint8, device="npu")
    with child(sharing_child.hold) as (send, answer, _):
        send.put(x)
        assert answer() == "here"
        del x
        torch.npu.ipc_collect()
        assert torch.npu.memory_allocated() == before + (30 << 20)
        others = [torch.full((30 << 20,), 9, dtype=torch.uint8, device="npu") for _ in range(3)]
        send.put("look")
        assert answer() == [3]
        del others
        send.put("let go")
        assert answer() == "gone"
        torch.npu.ipc_collect()
        assert torch.npu.memory_allocated() == before
        send.put("end")


def test_a_receiver_that_exits_releases_its_tensor():
    before = memory_use.settled()
    x = torch.ones(1000, device="npu")
    with child(sharing_child.die_with_it) as (send, answer, process):
        send.put(x)
        assert answer() == 1000
        process.join(100)
    del x
    torch.npu.ipc_collect()
    assert torch.npu.memory_allocated() == before


def test_received_views_share_their_storage():
    base = torch.zeros(10, device="npu")
    with child(sharing_child.share_memory) as (send, answer, _):
        send.put((base[2:5], base[4:8]))
        assert answer() == ([7, 0, 0, 0], True)
    assert base.tolist() == [0, 0, 7, 7, 7, 0, 0, 0, 0, 0]


def test_a_tensor_made_in_the_child():
    with child(sharing_child.send_back) as (send, answer, _):
        tensor = answer()
        assert tensor.tolist() == [0, 1, 2, 3, 4]
        del tensor
        send.put("read")


def test_a_received_tensor_cannot_be_forwarded():
    with child(sharing_child.forward_it) as (send, answer, _):
        send.put(torch.ones(3, device="npu"))
        assert "received from another process" in answer()


def test_a_module():
    module = torch.nn.Linear(4, 3).npu()
    x = torch.randn(2, 4, device="npu")
    with child(sharing_child.load_module) as (send, answer, _):
        send.put((module, x))
        assert answer() == module(x).tolist()


@pytest.mark.parametrize("receiver", [sharing_child.hold, sharing_child.hold_with_a_child])
def test_a_killed_receiver_keeps_no_memory(receiver):
    before = memory_use.settled()
    x = torch.ones(1000, device="npu")
    context = mp.get_context("spawn")
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=receiver, args=(inbox, outbox))
    process.start()
    inbox.put(x)
    children = []
    while (word := outbox.get(timeout=100)) != "here":
        children.append(word)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert (x + 1).sum().item() == 2000
    del x
    torch.npu.ipc_collect()
    assert torch.npu.memory_allocated() == before
    for child_pid in children:
        os.kill(child_pid, signal.SIGKILL)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize("collect", [torch.npu.ipc_collect, torch.npu.empty_cache])
def test_a_process_that_dies_before_it_opens_its_arguments_keeps_no_memory(method, collect):
    before = memory_use.settled()
    x = torch.ones(1000, device="npu")
    process = mp.get_context(method).Process(
        target=sharing_child.expect_sum, args=(sharing_child.Ends(), x, 1000)
    )
    process.start()
    process.join()
    assert process.exitcode == 3
    assert (x + 1).sum().item() == 2000
    del x
    collect()
    assert torch.npu.memory_allocated() == before


def test_a_start_that_fails_keeps_no_memory():
    before = memory_use.settled()
    x = torch.ones(1000, device="npu")
    process = mp.get_context("spawn").Process(target=print, args=(x, lambda: None))
    with pytest.raises((AttributeError, pickle.PicklingError)):
        process.start()
    del x, process
    assert memory_use.settled() == before


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_arguments_stay_until_their_process_opens_them(method, tmp_path):
    before = memory_use.settled()
    path = tmp_path / "pipe"
    os.mkfifo(path)
    x = torch.ones(1000, device="npu")
    process = mp.get_context(method).Process(
        target=sharing_child.expect_sum, args=(sharing_child.Waits(str(path)), x, 1000)
    )
    process.start()
    with open(path, "w") as pipe:  # until the process reads it
        del x
        torch.npu.empty_cache()
        assert torch.npu.memory_allocated() > before
        torch.full((1000,), 7.0, device="npu")
        pipe.write("go on")
    process.join(100)
    assert process.exitcode == 0
    torch.npu.ipc_collect()
    assert torch.npu.memory_allocated() == before


def test_a_changed_message_opens_nothing():
    before = memory_use.settled()
    other = torch.full((1 << 22,), 7.0, device="npu")  # not in the same allocation
    x = torch.ones(1000, device="npu")
    names = ["device", "handle", "nbytes", "offset", "sender", "user", "event", "sync"]

    def share(tensor):
        return dict(zip(names, tensor.untyped_storage()._share_npu_(), strict=True))

    def release(ticket):
        torch.UntypedStorage._release_ipc_counter_npu(ticket["sender"], ticket["user"])

    def is_refused(change, message):
        ticket = share(x)
        changed = ticket | change(ticket)
        with pytest.raises(RuntimeError, match=message):
            torch.UntypedStorage._new_shared_npu(*changed.values())
        release(ticket)

    stranger = share(other)
    is_refused(lambda _: {"nbytes": 1 << 40}, "was changed on its way")
    is_refused(lambda _: {"nbytes": 4001}, "was changed on its way")
    is_refused(lambda ticket: {"offset": ticket["offset"] + 512}, "was changed on its way")
    is_refused(lambda _: {"handle": stranger["handle"]}, "was changed on its way")
    is_refused(lambda _: {"user": stranger["user"]}, "was changed on its way")
    is_refused(lambda ticket: {"user": ticket["user"] ^ 1}, "changed or received before")
    is_refused(lambda ticket: {"sender": ticket["sender"] + b"0"}, "cannot be reached")
    is_refused(lambda _: {"sender": b"s" * 200}, "was changed on its way")
    ticket = share(x)
    opened = torch.UntypedStorage._new_shared_npu(*ticket.values())
    assert opened.nbytes() == 4000
    with pytest.raises(RuntimeError, match="changed or received before"):
        torch.UntypedStorage._new_shared_npu(*ticket.values())
    opened = other = x = None
    torch.npu.ipc_collect()
    assert torch.npu.memory_allocated() == before


def test_a_tensor_whose_sender_has_ended():
    program = """
import pickle, sys, torch
from multiprocessing.reduction import ForkingPickler
sys.stdout.write(bytes(ForkingPickler.dumps(torch.ones(3, device="npu"))).hex())
"""
    message = bytes.fromhex(fresh.output(program))
    with pytest.raises(RuntimeError, match="it has to live until its tensors were received"):
        pickle.loads(message)


def test_tensors_with_a_graph_are_refused():
    x = torch.ones(3, device="npu", requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="non-leaf tensor which requires_grad"):
        mp.reductions.reduce_tensor(x)


def test_a_storage_alone_is_refused():
    with pytest.raises(RuntimeError, match="try pickling a NPU tensor"):
        mp.reductions.reduce_storage(torch.ones(3, device="npu").untyped_storage())
