"""A causal language model with scaled dot product attention, tied embeddings and sampling."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, vocabulary, context, width=32, heads=4, layers=2):
        super().__init__()
        self.context = context
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.token.weight
        nn.init.normal_(self.token.weight, std=0.02)

    def forward(self, tokens, targets=None):
        x = self.token(tokens) + self.position(torch.arange(tokens.size(1), device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.norm(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        return logits, loss

    @torch.no_grad()
    def generate(self, tokens, count):
        for _ in range(count):
            logits, _ = self(tokens[:, -self.context :])
            following = torch.multinomial(F.softmax(logits[:, -1], dim=-1), 1)
            tokens = torch.cat((tokens, following), dim=1)
        return tokens


def learning_rate(step, warmup=2, last=6):
    if step < warmup:
        return (step + 1) / warmup
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - warmup) / (last - warmup)))


parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda", help="cuda, cuda:1, cpu")
args = parser.parse_args()
device = args.device
device_type = "cuda" if "cuda" in device else "cpu"
torch.manual_seed(1337)
torch.backends.cuda.matmul.allow_tf32 = False
torch.set_float32_matmul_precision("highest")

text = "to be, or not to be, that is the question: " * 8
symbols = sorted(set(text))
encoded = torch.tensor([symbols.index(c) for c in text], dtype=torch.long)
context = 16


def get_batch(step, size=8):
    starts = [(step * 7 + i * 11) % (len(encoded) - context - 1) for i in range(size)]
    x = torch.stack([encoded[i : i + context] for i in starts])
    y = torch.stack([encoded[i + 1 : i + 1 + context] for i in starts])
    if device_type == "cuda":
        x = x.pin_memory().to(device, non_blocking=True)
        y = y.pin_memory().to(device, non_blocking=True)
    return x.to(device), y.to(device)


model = Model(len(symbols), context)
model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
for step in range(6):
    for group in optimizer.param_groups:
        group["lr"] = 3e-3 * learning_rate(step)
    x, y = get_batch(step)
    _, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss: {loss.item()!r}")

start = torch.zeros((1, 1), dtype=torch.long, device=device)
sampled = model.generate(start, 8)[0].tolist()
assert len(sampled) == 9
print("".join(symbols[i] for i in sampled))
