import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR, ExponentialLR

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))


def textures(n, g):
    """stripes in four directions and two widths, random phase and contrast"""
    y = torch.randint(0, 8, (n,), generator=g)
    yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    angle = (y % 4).float() * 0.7854
    freq = torch.where(y < 4, 1.0, 2.0)
    phase = torch.rand(n, generator=g) * 6.28
    arg = xx * angle.cos()[:, None, None] + yy * angle.sin()[:, None, None]
    img = torch.sin(arg * freq[:, None, None] + phase[:, None, None])
    img = img * (0.5 + torch.rand(n, 1, 1, generator=g)) + 0.4 * torch.randn(n, 12, 12, generator=g)
    return img[:, None], y


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.short = None
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        if CASE == 9:
            nn.init.zeros_(self.bn2.weight)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        return F.relu(h + (x if self.short is None else self.short(x)))


class ResNet(nn.Module):
    def __init__(self, width=8, classes=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, 1, 1, bias=False)
        self.bn = nn.BatchNorm2d(width)
        blocks = [BasicBlock(width, width, 1), BasicBlock(width, 2 * width, 2), BasicBlock(2 * width, 4 * width, 2)]
        if CASE == 3:
            self.blocks = blocks
        else:
            self.blocks = nn.ModuleList(blocks)
        self.neck = nn.BatchNorm1d(4 * width) if CASE in (1, 5) else nn.Identity()
        self.fc = nn.Linear(4 * width, classes)

    def forward(self, x):
        x = F.relu(self.bn(self.stem(x)))
        for b in self.blocks:
            x = b(x)
        return self.fc(self.neck(x.mean((2, 3))))


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    out = torch.cat([model(c) for c in x.split(128)])
    return (out.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(SEED)
    g = torch.Generator().manual_seed(SEED + 17)
    x, y = textures(1600, g)
    vx, vy = textures(480, g)
    model = ResNet()
    epochs, bs, lr = 5, 32, 0.05
    if CASE == 1:
        bs = 2
        x, y, epochs = x[:800], y[:800], 1
    if CASE == 6:
        bs, epochs, lr = 16, 4, 0.03
    if CASE == 8:
        epochs = 1
        lr = 0.1
        bs = 20
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
    per_epoch = len(x) // bs
    sched = CosineAnnealingLR(opt, epochs * per_epoch)
    if CASE == 4:
        sched = StepLR(opt, step_size=4, gamma=0.1)
    if CASE == 7:
        sched = CosineAnnealingLR(opt, 50)
    step = 0
    model.train()
    for epoch in range(epochs):
        if CASE != 2:
            model.train()
        perm = torch.randperm(len(x))
        for k in range(per_epoch):
            idx = perm[k * bs:(k + 1) * bs]
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            step += 1
            if step == 10 and CASE == 2:
                print("quick check", evaluate(model, vx, vy))
            if step % 20 == 0:
                print(f"step {step} lr {opt.param_groups[0]['lr']:.2e} loss {loss.item():.4f}")
        acc = evaluate(model, vx, vy)
        print(f"epoch {epoch} accuracy {acc:.4f}")
    print("METRIC", evaluate(model, vx, vy))


main()
