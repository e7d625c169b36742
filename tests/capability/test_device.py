import signal
import threading

import fresh
import pytest
import torch


def run(code, **env):
    """Runs `code` in a fresh interpreter; returns (exit code, output)."""
    result = fresh.run(code, **env)
    return result.returncode, result.stdout + result.stderr


def test_torch_finds_the_device_by_itself():
    code, out = run("import torch; print(torch.ones(2, device='npu') + 1)")
    assert code == 0
    assert "tensor([2., 2.], device='npu:0')" in out


def test_import_torch_npu_first():
    code, out = run(
        "import torch_npu, torch; print(torch_npu.__version__, torch.npu.is_available())"
    )
    assert code == 0
    assert f"{torch.__version__.split('+')[0]}+softnpu True" in out


def test_queries_do_not_initialize_the_device():
    code, out = run(
        "import torch\n"
        "torch.npu.is_available(), torch.npu.device_count(), torch.npu.get_device_name(), torch.npu.manual_seed(1)\n"
        "torch.manual_seed(3)\n"
        "print(torch.npu.is_initialized())"
    )
    assert (code, out.strip()) == (0, "False")


def test_no_device_gives_a_reason():
    code, out = run(
        "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())\n"
        "torch.ones(1, device='npu')",
        SOFTNPU_DEVICE_COUNT="0",
    )
    assert code == 1
    assert "False the runtime reports 0 devices (SOFTNPU_DEVICE_COUNT" in out


def test_a_malformed_variable_is_named():
    code, out = run(
        "import torch; print(torch.npu.is_available(), torch.npu.unavailable_reason())",
        SOFTNPU_HBM="plenty",
    )
    assert code == 0
    assert "False" in out
    assert "SOFTNPU_HBM=plenty is not understood" in out


def test_exit_with_busy_streams():
    code, out = run(
        "import torch\n"
        "x = torch.zeros(1 << 24, device='npu')\n"
        "for i in range(200): y = x.clone()\n"
        "print('left')",
        SOFTNPU_INLINE="0",
    )
    assert (code, out.strip()) == (0, "left")


def test_exit_right_after_a_backward_pass():
    program = (
        "import torch\n"
        "x = torch.randn(3, device='npu', requires_grad=True)\n"
        "x.square().sum().backward()\n"
        "print(len(x.grad), 'left')"
    )
    for _ in range(5):
        code, out = run(program)
        assert (code, out.strip()) == (0, "3 left")


def test_backward_runs_on_the_calling_thread():
    x = torch.randn(3, device="npu", requires_grad=True)
    threads = []
    y = x * 2
    y.register_hook(lambda _: threads.append(threading.get_ident()))
    y.sum().backward()
    assert threads == [threading.get_ident()]


def test_ctrl_c_in_a_long_operator():
    code, out = run(
        "import os, signal, threading, time, torch\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background shell ignores it
        "a = torch.randn(1500, 1500, device='npu', dtype=torch.float64)\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "def work():\n"
        "    while True: a @ a\n"
        "try:\n"
        "    work()\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', (torch.ones(2, device='npu') + 1).tolist())"
    )
    assert (code, out.strip()) == (0, "interrupted [2.0, 2.0]")


def test_ctrl_c_with_a_full_queue_ends_the_process():
    # Asynchronous work: the host runs ahead until the queue is full, and queued work is dropped.
    code, out = run(
        "import os, signal, threading, torch\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "a = torch.randn(4000, 4000, device='npu')\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "while True: a @ a",
        SOFTNPU_HBM="8G",
    )
    assert code in (-signal.SIGINT, 128 + signal.SIGINT)
    assert out.strip().endswith("KeyboardInterrupt")


def test_forked_data_loader_workers():
    code, out = run(
        "import torch\n"
        "x = torch.ones(4, device='npu')\n"
        "data = torch.utils.data.TensorDataset(torch.arange(16.))\n"
        "loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2, multiprocessing_context='fork')\n"
        "print(sum(float((b[0].npu() * x).sum()) for b in loader))"
    )
    assert (code, out.strip()) == (0, "120.0")


def test_npu_in_a_forked_child_is_refused():
    code, out = run(
        "import os, torch\n"
        "x = torch.ones(4, device='npu')\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try: torch.ones(1, device='npu')\n"
        "    except RuntimeError as e: os._exit(0 if 'spawn' in str(e) else 3)\n"
        "    os._exit(4)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), x.sum().item())"
    )
    assert (code, out.strip()) == (0, "0 4.0")


def test_wrong_index():
    with pytest.raises(RuntimeError, match="Invalid NPU device index npu:7"):
        torch.ones(1, device="npu:7")
    with pytest.raises(RuntimeError, match="Invalid NPU device index npu:7"):
        torch.npu.set_device(7)


def test_mixed_devices():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(2, device="npu") + torch.ones(2)


def test_cpu_scalars_are_accepted():
    assert (torch.ones(2, device="npu") * torch.tensor(3.0)).tolist() == [3.0, 3.0]


def test_unsupported_dtype():
    with pytest.raises((RuntimeError, NotImplementedError), match="not implemented for"):
        torch.ones(2, 2, device="npu", dtype=torch.bool) @ torch.ones(
            2, 2, device="npu", dtype=torch.bool
        )


def test_out_of_memory():
    with pytest.raises(torch.OutOfMemoryError, match=r"NPU out of memory\. Tried to allocate"):
        torch.empty(1 << 44, dtype=torch.uint8, device="npu")


def test_module_keeps_its_parameters():
    module = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    weight = module.weight
    module.npu()
    assert module.weight is weight
    assert weight.is_npu
    before = weight.detach().cpu()
    module(torch.ones(1, 2, device="npu")).sum().backward()
    optimizer.step()
    assert not torch.equal(before, weight.detach().cpu())
