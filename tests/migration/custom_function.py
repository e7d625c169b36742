"""A custom autograd function with cast arguments, and memory statistics as scripts print them."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
on_gpu = args.device != "cpu"


class Swish(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * s * (1 + x * (1 - s))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(20, 40)
        self.b = nn.Linear(40, 1)

    def forward(self, x):
        return self.b(Swish.apply(self.a(x)))


def print_memory(when):
    if on_gpu:
        print(
            f"{when}: allocated {torch.cuda.memory_allocated(args.device) / 1024:.1f} KiB,"
            f" peak {torch.cuda.max_memory_allocated() / 1024:.1f} KiB,"
            f" reserved {torch.cuda.memory_reserved(0) / 1024**2:.1f} MiB"
        )


torch.manual_seed(19)
model = Net()
x, y = torch.randn(64, 20), torch.randn(64, 1)
if on_gpu:
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model, x, y = model.to(args.device), x.to(args.device), y.to(args.device)
    assert torch.cuda.memory_allocated() > before
print_memory("start")
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
for step in range(5):
    loss = nn.functional.smooth_l1_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss: {loss.item()!r}")
print_memory("end")
if on_gpu:
    assert torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated() > 0
    assert "Allocated memory" in torch.cuda.memory_summary()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total == torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
