"""Gradients of pooling whose operands have different memory formats: atomic additions within tiles."""

import torch
import torch.nn.functional as F


def _loss(x, weights, bias):
    pooled = F.max_pool2d(torch.relu(x * 1.5 + bias), 3, 2, 1)
    return (pooled * weights).sum()


def test_gradients_of_pools_of_channels_last_images():
    x = torch.randn(2, 64, 32, 32, device="npu").to(memory_format=torch.channels_last)
    weights = torch.randn(2, 64, 16, 16, device="npu")
    bias = torch.randn(2, 64, 32, 32, device="npu")
    gradients = []
    for loss in (_loss, torch.compile(_loss, fullgraph=True)):
        leaf = x.clone().requires_grad_()
        loss(leaf, weights, bias).backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(gradients[1], gradients[0])
