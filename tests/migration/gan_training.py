"""A generator against a discriminator, two optimizers, in the style of scripts with a tensor type for the device."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
parser.add_argument("--latent", type=int, default=8)
opt = parser.parse_args()
cuda = opt.device == "cuda" and torch.cuda.is_available()
torch.manual_seed(5)

generator = nn.Sequential(
    nn.Linear(opt.latent, 32),
    nn.BatchNorm1d(32, 0.8),
    nn.LeakyReLU(0.2),
    nn.Linear(32, 16),
    nn.Tanh(),
)
discriminator = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1), nn.Sigmoid())
adversarial_loss = nn.BCELoss()
noise = torch.randn(6, 24, opt.latent)
images = torch.rand(6, 24, 16) * 2 - 1

if cuda:
    generator.cuda()
    discriminator.cuda()
    adversarial_loss.cuda()

with torch.device("cuda" if cuda else "cpu"):
    valid = torch.ones(24, 1)
    fake = torch.zeros(24, 1)

optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
for step in range(6):
    real = images[step].cuda() if cuda else images[step]
    z = noise[step].cuda() if cuda else noise[step]

    optimizer_g.zero_grad()
    generated = generator(z)
    loss_g = adversarial_loss(discriminator(generated), valid)
    loss_g.backward()
    optimizer_g.step()

    optimizer_d.zero_grad()
    real_loss = adversarial_loss(discriminator(real), valid)
    fake_loss = adversarial_loss(discriminator(generated.detach()), fake)
    loss_d = (real_loss + fake_loss) / 2
    loss_d.backward()
    optimizer_d.step()
    print(f"step {step} D loss: {loss_d.item()!r}")
    print(f"step {step} G loss: {loss_g.item()!r}")
