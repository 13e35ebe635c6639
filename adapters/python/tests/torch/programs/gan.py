"""A GAN: two models, two optimizers, three backward passes a step; its variables are locals of a function."""

import torch
from torch import nn

from outcome import report, sees


def main():
    torch.manual_seed(2)
    netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(True), nn.Linear(16, 8))
    netD = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    optimizerD = torch.optim.Adam(netD.parameters(), lr=1e-3)
    optimizerG = torch.optim.Adam(netG.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    for step in range(6):
        real, noise = torch.randn(5, 8), torch.randn(5, 4)
        netD.zero_grad()
        errD_real = criterion(netD(real), torch.ones(5, 1))
        errD_real.backward()
        fake = netG(noise)
        errD_fake = criterion(netD(fake.detach()), torch.zeros(5, 1))
        errD_fake.backward()
        sees("gradient/netD.0.weight", netD[0].weight.grad)
        optimizerD.step()
        netG.zero_grad()
        errG = criterion(netD(fake), torch.ones(5, 1))
        errG.backward()
        sees("gradient/netG.0.weight", netG[0].weight.grad)
        optimizerG.step()
        sees("BCEWithLogitsLoss_output_0", errD_real)
        sees("BCEWithLogitsLoss_output_1", errD_fake)
        sees("BCEWithLogitsLoss_output_2", errG)
        sees("netG.0.weight", netG[0].weight)
        sees("netD.0.weight", netD[0].weight)
        print(f"step {step} D {errD_real.item() + errD_fake.item():.17g} G {errG.item():.17g}")
    report(netG, netD)


if __name__ == "__main__":
    main()
