"""Autoencoder for woven textures (periodic) and defect detection: the error on defective cloth must exceed that on sound cloth."""
import os
import numpy as np
import torch
import torch.nn as nn

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


class ConvAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 12, 3, 2, 1), nn.LeakyReLU(.2), nn.Conv2d(12, 24, 3, 2, 1), nn.LeakyReLU(.2), nn.Flatten(), nn.Linear(24 * 36, 12))
        self.fc = nn.Linear(12, 24 * 36)
        self.dec = nn.Sequential(nn.LeakyReLU(.2), nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.LeakyReLU(.2), nn.ConvTranspose2d(12, 1, 4, 2, 1))

    def forward(self, x):
        return self.dec(self.fc(self.enc(x)).view(-1, 24, 6, 6))


def cloth(n, rng, defect=False):
    y, x = np.mgrid[:24, :24]
    out = np.empty((n, 1, 24, 24), np.float32)
    for i in range(n):
        a, b = rng.uniform(0, 2 * np.pi, 2)
        im = np.sin(2 * np.pi * x / 8 + a) * np.sin(2 * np.pi * y / 6 + b) * rng.uniform(.8, 1.2)
        if defect:
            cy, cx = rng.integers(3, 17, 2)
            im[cy:cy + 5, cx:cx + 5] *= rng.uniform(-.2, .6)
        out[i, 0] = im + .2 * rng.standard_normal((24, 24))
    return torch.from_numpy(out)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    train, good, bad = cloth(1200, rng), cloth(300, rng), cloth(300, rng, True)
    net = ConvAE()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 8)
    for ep in range(8):
        tot = 0
        for idx in torch.randperm(1200).split(30):
            xb = train[idx]
            loss = (net(xb) - xb).pow(2).mean()
            opt.zero_grad(); loss.backward(); opt.step()
            tot += loss.item() * len(idx)
        sch.step()
        with torch.no_grad():
            # the score is the largest local error
            e = [nn.functional.avg_pool2d(nn.functional.avg_pool2d(net(v) - v, 2, 1) ** 2, 3, 1).amax((1, 2, 3)) for v in (good, bad)]
            rec = (net(good) - good).pow(2).mean().item()
        auc = (e[1][:, None] > e[0][None]).float().mean().item()
        print(f"epoch {ep} train mse {tot / 1200:.4f} sound cloth mse {rec:.4f} (noise 0.04) score sound {e[0].mean():.3f} defective {e[1].mean():.3f} AUC {auc:.4f}")


if __name__ == "__main__":
    main()
