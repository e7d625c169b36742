"""What stands above the kernels of namespace npu: versions, functionalization, graphs, transforms."""

import pytest
import torch
import torch.nn.functional as F

from torch_npu import accuracy

OPS = torch.ops.npu


def test_in_place_increments_the_version():
    x = torch.randn(3, 4)
    n = x.npu()
    version = n._version
    assert OPS.npu_silu_(n) is n
    assert n._version == version + 1
    accuracy.assert_close(n.cpu(), F.silu(x), equal_nan=False)
    with pytest.raises(RuntimeError, match="single memory location"):
        OPS.npu_silu_(torch.ones(1, device="npu").expand(3))


def test_out():
    x = torch.randn(2, 3, device="npu")
    out = torch.empty(0, device="npu")
    assert OPS.npu_transpose.out(x, [1, 0], out=out) is out
    assert torch.equal(out.cpu(), x.cpu().T)
    for bad in (torch.empty(0, dtype=torch.int32, device="npu"), torch.empty(0)):
        with pytest.raises(RuntimeError, match=r"Expected out|on npu"):
            OPS.npu_transpose.out(x, [1, 0], out=bad)
    square = torch.randn(3, 3, device="npu")
    with pytest.raises(RuntimeError, match="memory location"):
        OPS.npu_transpose.out(square, [1, 0], out=square)


def test_functionalization_removes_all_writes():
    def program(x):
        y = x + 1
        OPS.npu_silu_(y)
        OPS.npu_transpose.out(y, [1, 0], out=(out := torch.empty_like(x.T)))
        return y * 2, out

    from torch.func import functionalize
    from torch.fx.experimental.proxy_tensor import make_fx

    x = torch.randn(2, 3, device="npu")
    graph = make_fx(functionalize(program))(x)
    called = [str(n.target) for n in graph.graph.nodes if n.op == "call_function"]
    assert "npu.npu_silu.default" in called
    assert not {"npu.npu_silu_.default", "npu.npu_transpose.out"} & set(called)
    for got, reference in zip(graph(x), program(x), strict=True):
        assert torch.equal(got.cpu(), reference.cpu())


def test_compile():
    def program(x, gamma):
        y, _ = OPS.npu_rms_norm(OPS.npu_swiglu(x), gamma)
        return OPS.npu_silu_(y)

    compiled = torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=True)
    for rows in (3, 5):
        x, gamma = torch.randn(rows, 8, device="npu"), torch.randn(4, device="npu")
        assert torch.equal(compiled(x, gamma).cpu(), program(x, gamma).cpu())


def test_meta():
    x = torch.empty(2, 6, device="meta", dtype=torch.bfloat16)
    y, r = OPS.npu_rms_norm(x, torch.empty(6, device="meta"))
    assert (y.shape, y.dtype) == ((2, 6), torch.bfloat16)
    assert (r.shape, r.dtype) == ((2, 1), torch.float32)
    assert OPS.npu_swiglu(x.requires_grad_()).requires_grad


def test_a_second_derivative_is_refused():
    x = torch.randn(4, device="npu", requires_grad=True)
    (grad,) = torch.autograd.grad(OPS.npu_fast_gelu(x).sum(), x, create_graph=True)
    with pytest.raises(
        RuntimeError, match="derivative for npu::npu_fast_gelu_backward is not implemented"
    ):
        grad.sum().backward()


def test_the_autograd_graph_has_pytorchs_nodes():
    x = torch.randn(2, 8, device="npu", requires_grad=True)
    gamma = torch.ones(4, device="npu")
    y = OPS.npu_rms_norm(OPS.npu_swiglu(x), gamma)[0]
    node = y.grad_fn
    assert node.name() == "NpuRmsNormBackward0"
    assert [n and n.name() for n, _ in node.next_functions] == ["NpuSwigluBackward0", None]
    y.sum().backward(retain_graph=True)
    first = x.grad.clone()
    y.sum().backward()
    assert torch.equal(x.grad.cpu(), 2 * first.cpu())
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
    with torch.no_grad():
        assert OPS.npu_swiglu(x).grad_fn is None


def test_a_changed_saved_tensor_is_an_error():
    x = torch.randn(2, 8, device="npu", requires_grad=True) * 1
    y = OPS.npu_swiglu(x)
    x.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_saved_tensors_go_through_hooks():
    x = torch.randn(2, 8, device="npu", requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = OPS.npu_swiglu(x)
    y.sum().backward()
    (reference,) = torch.autograd.grad(OPS.npu_swiglu(x).sum(), x)
    assert torch.equal(x.grad.cpu(), reference.cpu())


def test_transforms():
    x = torch.randn(3, 8, device="npu")
    (reference,) = torch.autograd.grad(OPS.npu_swiglu(x.requires_grad_()).sum(), x)
    grad = torch.func.grad(lambda a: OPS.npu_swiglu(a).sum())
    assert torch.equal(grad(x.detach()).cpu(), reference.cpu())
    assert torch.equal(torch.func.vmap(grad)(x.detach()).cpu(), reference.cpu())
    with pytest.raises(NotImplementedError, match="npu::npu_swiglu has no forward-mode derivative"):
        torch.func.jvp(OPS.npu_swiglu, (x.detach(),), (x.detach(),))
