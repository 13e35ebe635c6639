"""Batches of 4 images (memory!), hence GroupNorm. The batch loss is noisy."""
import os
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def mugs(n, gen):
    """0: handle left, 1: handle right, 2: no handle"""
    y = torch.randint(0, 3, (n,), generator=gen)
    x = torch.zeros(n, 1, 18, 18)
    for i in range(n):
        h, w = torch.randint(7, 11, (2,), generator=gen).tolist()
        r = torch.randint(0, 18 - h, (1,), generator=gen).item()
        c = torch.randint(3, 15 - w + 1, (1,), generator=gen).item()
        x[i, 0, r:r + h, c:c + w] = 0.7
        if y[i] < 2:
            a = r + h // 4
            k = slice(c - 3, c) if y[i] == 0 else slice(c + w, c + w + 3)
            x[i, 0, a:a + h // 2 + 1, k] = 0.7
    return x + 0.28 * torch.randn(x.shape, generator=gen), y


class GNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        def unit(i, o, s):
            return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.GroupNorm(4, o), nn.ReLU(inplace=True))
        self.body = nn.Sequential(unit(1, width, 1), unit(width, width, 2), unit(width, 2 * width, 2))
        self.head = nn.Linear(2 * width * 25, 3)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def main():
    torch.manual_seed(SEED)
    gen = torch.Generator().manual_seed(SEED + 10)
    ds = TensorDataset(*mugs(1200, gen))
    train, val = random_split(ds, [900, 300], generator=gen)
    tl, vl = DataLoader(train, batch_size=4, shuffle=True), DataLoader(val, batch_size=50)
    net = GNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.008, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 4 * len(tl))
    step = 0
    for epoch in range(4):
        net.train()
        for x, y in tl:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad(); loss.backward(); opt.step(); sched.step()
            step += 1
            if step % 45 == 0:
                print(f"step {step} loss {loss.item():.4f}")
        net.eval()
        with torch.no_grad():
            r = [(nn.functional.cross_entropy(z, y, reduction="sum").item(), (z.argmax(1) == y).sum().item()) for z, y in ((net(x), y) for x, y in vl)]
        print(f"epoch {epoch} val loss {sum(a for a, _ in r) / 300:.4f} acc {sum(b for _, b in r) / 300:.4f}")


main()
