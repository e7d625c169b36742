"""The six networks whose operators the tests follow, small and with random weights, each with inputs and a loss."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CLASSES = 10
WORDS = 64


class UNetBlock(nn.Module):
    """A block of a diffusion U-Net: two normalized convolutions with a time embedding, attention over the pixels, a
    downsampling and an upsampling with the skip connection of Ronneberger et al. (2015)."""

    def __init__(self, channels: int = 16, heads: int = 2):
        super().__init__()
        self.time = nn.Sequential(
            nn.Linear(channels, channels), nn.SiLU(), nn.Linear(channels, channels)
        )
        self.norm1 = nn.GroupNorm(4, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm2 = nn.GroupNorm(4, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.down = nn.Conv2d(channels, channels, 3, stride=2, padding=1)
        self.norm3 = nn.GroupNorm(4, channels)
        self.qkv = nn.Conv2d(channels, 3 * channels, 1)
        self.project = nn.Conv2d(channels, channels, 1)
        self.up = nn.Conv2d(2 * channels, channels, 3, padding=1)
        self.heads = heads

    def _attend(self, x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        qkv = self.qkv(self.norm3(x)).reshape(batch, 3, self.heads, -1, height * width)
        q, k, v = qkv.transpose(-1, -2).unbind(1)
        seen = F.scaled_dot_product_attention(q, k, v).transpose(-1, -2)
        return x + self.project(seen.reshape(batch, channels, height, width))

    def forward(self, x: Tensor, steps: Tensor) -> Tensor:
        """``x`` [batch, channels, height, width], ``steps`` [batch]; returns the noise with the shape of ``x``."""
        angles = steps[:, None] * torch.exp(-torch.arange(x.shape[1] // 2, device=x.device))
        time = self.time(torch.cat((angles.sin(), angles.cos()), 1))
        y = self.conv1(F.silu(self.norm1(x))) + time[:, :, None, None]
        y = x + self.conv2(F.silu(self.norm2(y)))
        deep = self._attend(self.down(y))
        widened = F.interpolate(deep, scale_factor=2.0, mode="nearest")
        return self.up(torch.cat((widened, y), 1))


class Recurrent(nn.Module):
    """An embedding, two LSTM layers and a classifier for the next word of every step."""

    def __init__(self, width: int = 32):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.classifier = nn.Linear(width, WORDS)

    def forward(self, tokens: Tensor) -> Tensor:
        """``tokens`` [batch, steps]; logits [batch, steps, words]."""
        return self.classifier(self.lstm(self.embedding(tokens))[0])


@dataclass(frozen=True)
class Network:
    """``model(*inputs)`` with the loss of its result."""

    model: nn.Module
    inputs: tuple[Tensor, ...]
    loss: Callable[..., Tensor]  # of the result and the inputs

    def run(self) -> Tensor:
        """Forward pass and loss."""
        return self.loss(self.model(*self.inputs), *self.inputs)

    def to(self, device: str) -> "Network":
        """The same network on another device."""
        return Network(self.model.to(device), tuple(x.to(device) for x in self.inputs), self.loss)


def _classified(logits: Tensor) -> Tensor:
    targets = torch.arange(logits.shape[0], device=logits.device) % logits.shape[-1]
    return F.cross_entropy(logits, targets)


def _next_word(logits: Tensor, tokens: Tensor) -> Tensor:
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def _images(batch: int, size: int) -> tuple[Tensor]:
    return (torch.randn(batch, 3, size, size),)


def _words(batch: int = 2, steps: int = 16) -> tuple[Tensor]:
    return (torch.randint(WORDS, (batch, steps)),)


def resnet50() -> Network:
    """ResNet-50 on two images of 64 x 64 pixels."""
    from transformers import ResNetConfig, ResNetForImageClassification

    model = ResNetForImageClassification(ResNetConfig(num_labels=CLASSES))
    return Network(model, _images(2, 64), lambda out, images: _classified(out.logits))


def vit() -> Network:
    """A vision transformer of four layers."""
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128, image_size=64,
        num_labels=CLASSES,
    )  # fmt: skip
    model = ViTForImageClassification(config)
    return Network(model, _images(2, 64), lambda out, images: _classified(out.logits))


def bert() -> Network:
    """An encoder of two layers with a head for masked words."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=WORDS,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    model = BertForMaskedLM(config)
    return Network(model, _words(), lambda out, tokens: _next_word(out.logits, tokens))


def llama() -> Network:
    """A decoder of two layers with grouped queries."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=64,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    return Network(model, _words(), lambda out, tokens: _next_word(out.logits, tokens))


def lstm() -> Network:
    """Two LSTM layers over words."""
    return Network(Recurrent(), _words(), _next_word)


def unet() -> Network:
    """A diffusion U-Net's block on images of 16 x 16."""
    inputs = (torch.randn(2, 16, 16, 16), torch.tensor([3.0, 7.0]))
    return Network(UNetBlock(), inputs, lambda noise, x, steps: F.mse_loss(noise, x))


NETWORKS = {
    "resnet50": resnet50,
    "bert": bert,
    "llama": llama,
    "vit": vit,
    "lstm": lstm,
    "unet": unet,
}
