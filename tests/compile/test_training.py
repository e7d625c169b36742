"""torch.compile on npu: gradients, optimizers, autocast, export."""

import copy

import torch
from compiled import check_near
from torch import nn
from torch.nn import functional as F

import torch_npu

FEATURES = 64


def _network():
    return nn.Sequential(
        nn.Linear(FEATURES, FEATURES), nn.LayerNorm(FEATURES), nn.GELU(), nn.Linear(FEATURES, 8)
    ).npu()


def test_gradients_and_an_optimizer():
    eager = _network()
    compiled = copy.deepcopy(eager)
    x, targets = torch.randn(16, FEATURES).npu(), torch.arange(16).npu() % 8
    forward = torch.compile(compiled, fullgraph=True)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (eager, compiled)]
    steps = [optimizers[0].step, torch.compile(optimizers[1].step)]
    for _ in range(2):
        for model, optimizer, step in zip((eager, forward), optimizers, steps, strict=True):
            optimizer.zero_grad()
            F.cross_entropy(model(x), targets).backward()
            step()
    for a, e in zip(compiled.parameters(), eager.parameters(), strict=True):
        check_near(a.grad, e.grad, terms=16 * FEATURES)
        check_near(a.detach(), e.detach(), terms=FEATURES)


def test_products_and_attention_are_aclnn():
    def function(x, w):
        q = (x @ w).relu()
        return F.scaled_dot_product_attention(q, q * 2, x, is_causal=True).sigmoid()

    x, w = torch.randn(2, 4, 16, 8).npu(), torch.randn(8, 8).npu()
    compiled = torch.compile(function, fullgraph=True)
    check_near(compiled(x, w), function(x, w), terms=16)
    explained = torch_npu.utils.explain(compiled, x, w)
    kernels = {row.kernel for row in explained.rows if row.route == "aclnn"}
    assert kernels <= {"aclnnMm", "aclnnBatchMatMul", "aclnnMatmul", "aclnnFlashAttentionScoreV2"}
    assert len(kernels) == 2
    assert explained.calls("generated") >= 1
    assert explained.calls("AI CPU") == explained.calls("copy") == 0


def test_autocast():
    model, x = _network(), torch.randn(4, FEATURES).npu()

    def function(x):
        with torch.autocast("npu", dtype=torch.bfloat16):
            return model(x)

    result = torch.compile(function, fullgraph=True)(x)
    assert result.dtype == torch.bfloat16
    check_near(result, function(x))


def test_export():
    model, x = _network(), torch.randn(4, FEATURES).npu()
    exported = torch.export.export(model, (x,)).module()
    check_near(exported(x), model(x))
    check_near(torch.compile(exported)(x), model(x), terms=FEATURES)
