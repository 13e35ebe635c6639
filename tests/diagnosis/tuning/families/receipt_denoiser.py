"""Cleaning photographed till receipts: a small convolutional autoencoder maps noisy patches to clean ones."""
import os
import copy
import tempfile
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))

FONT = {
    "0": "111101101101111", "1": "010110010010111", "2": "111001111100111", "3": "111001111001111",
    "4": "101101111001001", "5": "111100111001111", "6": "111100111101111", "7": "111001010010010",
    "8": "111101111101111", "9": "111101111001111", ".": "000000000000010", "-": "000000111000000",
}
H, W = 20, 28


def clean_patch(rng):
    img = np.ones((H, W), np.float32) * rng.uniform(0.82, 0.95)
    ink = rng.uniform(0.05, 0.35)
    top = rng.integers(0, 5)
    for row in range(2):
        left = rng.integers(0, 5)
        for ch in rng.choice(list(FONT), rng.integers(3, 7)):
            if left + 4 > W:
                break
            glyph = np.array([int(c) for c in FONT[ch]], np.float32).reshape(5, 3)
            r0 = top + row * 8
            block = img[r0:r0 + 5, left:left + 3]
            img[r0:r0 + 5, left:left + 3] = np.where(glyph[:block.shape[0]] > 0, ink, block)
            left += 4
    return img


def corrupt(clean, rng):
    y, x = np.mgrid[0:H, 0:W].astype(np.float32)
    shade = 1 - 0.35 * rng.random() * (np.cos(rng.uniform(0, 6.28)) * (x / W - .5) + np.sin(rng.uniform(0, 6.28)) * (y / H - .5) + .5)
    img = clean * shade
    for _ in range(rng.integers(0, 2)):
        d = np.hypot(y - rng.uniform(0, H), x - rng.uniform(0, W))
        img = img * (1 - 0.3 * (d < rng.uniform(3, 7)))
    return (img + rng.normal(0, 0.17, img.shape)).astype(np.float32)


def build(n, rng, copies=1):
    clean = [clean_patch(rng) for _ in range(n)]
    noisy = [[corrupt(c, rng) for c in clean] for _ in range(copies)]
    return torch.tensor(np.stack(clean))[:, None], [torch.tensor(np.stack(z))[:, None] for z in noisy]


class Middle(nn.Module):
    def __init__(self, c, depth):
        super().__init__()
        convs = [nn.Conv2d(c, c, 3, padding=1) for _ in range(depth)]
        self.convs = convs if CASE == 3 else nn.ModuleList(convs)

    def forward(self, x):
        for conv in self.convs:
            x = F.relu(conv(x))
        return x


class ReceiptAE(nn.Module):
    def __init__(self, c=12, depth=3):
        super().__init__()
        self.inp = nn.Conv2d(1, c, 3, padding=1)
        self.down = nn.Conv2d(c, 2 * c, 4, stride=2, padding=1)
        self.middle = Middle(2 * c, depth)
        self.up = nn.ConvTranspose2d(2 * c, c, 4, stride=2, padding=1)
        self.out = nn.Conv2d(c, 1, 3, padding=1)

    def forward(self, x):
        h = F.relu(self.inp((x - 0.7) / 0.3))
        h = F.relu(self.up(self.middle(F.relu(self.down(h)))))
        return self.out(h) * 0.3 + 0.7


class SkipNet(nn.Module):
    """predicts what has to be subtracted"""

    def __init__(self, c=12):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(1, c, 5, padding=2), nn.LeakyReLU(0.1))
        self.b = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c), nn.LeakyReLU(0.1))
        self.c = nn.Sequential(nn.Conv2d(c, c, 3, padding=2, dilation=2), nn.BatchNorm2d(c), nn.LeakyReLU(0.1))
        self.d = nn.Conv2d(2 * c, 1, 3, padding=1)

    def forward(self, x):
        h = self.a(x)
        return x - self.d(torch.cat([h, self.c(self.b(h))], 1))


class Averaged:
    """exponential moving average of the weights, used for evaluation"""

    def __init__(self, model, decay):
        self.model, self.decay = copy.deepcopy(model), decay

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.model.parameters(), model.parameters()):
            if CASE == 2:
                p.mul_(self.decay).add_(e, alpha=1 - self.decay)
            else:
                e.mul_(self.decay).add_(p, alpha=1 - self.decay)
        for e, b in zip(self.model.buffers(), model.buffers()):
            e.copy_(b)


def psnr(a, b):
    return float(-10 * torch.log10(((a.clamp(0, 1) - b) ** 2).mean()))


@torch.no_grad()
def evaluate(net, noisy, clean):
    net.eval()
    out = torch.cat([net(c) for c in noisy.split(128)])
    net.train()
    return F.mse_loss(out, clean).item(), psnr(out, clean)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED + 5)
    pairs = CASE == 5
    clean, noisy = build(600, rng, copies=3 if pairs else 1)
    vclean, (vnoisy,) = build(200, rng)
    net = SkipNet() if pairs else ReceiptAE()
    ema = Averaged(net, 0.9)
    opt = torch.optim.Adam(net.parameters(), lr=0.2 if CASE == 1 else 3e-3)
    folder = tempfile.mkdtemp()
    best, path = float("inf"), os.path.join(folder, "best.pt")
    print("noisy patches: PSNR %.2f dB" % psnr(vnoisy, vclean))
    for epoch in range(1, 8):
        losses = []
        for idx in torch.randperm(len(clean)).split(24):
            if pairs:
                i, j = np.random.RandomState(len(losses) + 100 * epoch).choice(3, 2, replace=False)
                x, y = noisy[i][idx], noisy[j][idx]
            else:
                x, y = noisy[0][idx], clean[idx]
            loss = F.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            ema.update(net)
            losses.append(loss.item())
        mse, db = evaluate(ema.model, vnoisy, vclean)
        score = db if CASE == 4 else mse
        mark = ""
        if score < best:
            best, mark = score, "  saved"
            torch.save(ema.model.state_dict(), path)
        print(f"epoch {epoch} loss {np.mean(losses):.5f} val mse {mse:.5f} PSNR {db:.2f}{mark}")
    net.load_state_dict(torch.load(path))
    mse, db = evaluate(net, vnoisy, vclean)
    print(f"model for the app: val mse {mse:.5f} PSNR {db:.2f}")


main()
