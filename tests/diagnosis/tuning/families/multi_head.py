import os
import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

S = 16


def scene(rng):
    kind = rng.randint(0, 4)
    w, h = rng.uniform(4, 9, 2)
    cx, cy = rng.uniform(w / 2, S - w / 2), rng.uniform(h / 2, S - h / 2)
    yy, xx = np.mgrid[0:S, 0:S] + 0.5
    u, v = (xx - cx) / (w / 2), (yy - cy) / (h / 2)
    inside = (abs(u) < 1) & (abs(v) < 1)
    if kind == 0:
        m = inside
    elif kind == 1:
        m = u ** 2 + v ** 2 < 1
    elif kind == 2:
        m = inside & ((abs(u) > 0.5) | (abs(v) > 0.5))
    else:
        m = inside & (abs(abs(u) - abs(v)) < 0.45)
    tone = rng.uniform(0.5, 1.0)
    img = m * tone + rng.randn(S, S) * 0.12
    return img, kind, [cx / S, cy / S, w / S, h / S], tone


def dataset(n, seed):
    rng = np.random.RandomState(seed)
    items = [scene(rng) for _ in range(n)]
    img = torch.tensor(np.stack([i[0] for i in items]), dtype=torch.float32)[:, None]
    kind = torch.tensor([i[1] for i in items])
    box = torch.tensor([i[2] for i in items], dtype=torch.float32)
    tone = torch.tensor([i[3] for i in items], dtype=torch.float32)
    return img, kind, box, tone


class Trunk(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Flatten(), nn.Linear(24 * 16, 64), nn.ReLU())


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        heads = {
            "kind": nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4)),
            "box": nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4)),
            "tone": nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 1)),
        }
        if CASE == 3:
            self.heads = heads
        else:
            self.heads = nn.ModuleDict(heads)

    def forward(self, x):
        f = self.trunk(x)
        return {k: h(f) for k, h in self.heads.items()}


class Uncertainty(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(n))

    def forward(self, losses):
        out = 0
        for s, l in zip(self.log_vars, losses):
            out = out + torch.exp(-s) * l + 0.5 * s
        return out


class Trainer:
    def __init__(self, net):
        self.net = net
        self.weighting = Uncertainty(3) if CASE in (1, 2) else None
        params = list(net.parameters())
        if CASE == 1:
            params = [{'params': params}, {'params': self.weighting.parameters(), 'lr': 1e-2}]
        if CASE == 5:
            self.opt = torch.optim.SGD(params, lr=0.02, momentum=0.9)
        elif CASE == 8:
            self.opt = torch.optim.SGD(params, lr=0.1, momentum=0.9)
        else:
            self.opt = torch.optim.Adam(params, lr=2e-3)
        self.step = 0

    def box_loss(self, pred, box):
        if CASE == 5:
            return F.mse_loss(pred, box * 640)
        return F.mse_loss(pred, box)

    def total(self, out, kind, box, tone):
        l_kind = F.cross_entropy(out["kind"], kind)
        l_box = self.box_loss(out["box"], box)
        l_tone = F.mse_loss(out["tone"].squeeze(1), tone)
        if self.weighting is not None:
            return self.weighting([l_kind, l_box, l_tone]), (l_kind, l_box, l_tone)
        if CASE == 4:
            loss = torch.sum(torch.tensor([l_kind, 5 * l_box, l_tone], requires_grad=True))
        elif CASE == 6:
            loss = 0
            for name, part in (("kind", l_kind), ("tone", l_tone), ("box", l_box)):
                loss = part * (5 if name == "box" else 1)
        elif CASE == 8:
            loss = l_kind + 60 * l_box + 10 * l_tone
        elif CASE == 9:
            loss = [l_kind, 20 * l_box, 5 * l_tone][self.step % 3]
        elif CASE == 5:
            loss = l_kind + l_box + l_tone
        else:
            loss = l_kind + 5 * l_box + l_tone
        return loss, (l_kind, l_box, l_tone)

    def augment(self, img, box):
        if random.random() < 0.5:
            img = torch.flip(img, [3])
            if CASE != 7:
                box = box.clone()
                box[:, 0] = 1 - box[:, 0]
        return img, box

    def fit(self, data, val, epochs, bs=32):
        img, kind, box, tone = data
        for ep in range(epochs):
            self.net.train()
            run = np.zeros(4)
            perm = torch.randperm(len(img))
            nb = 0
            for i in range(0, len(img) - bs + 1, bs):
                j = perm[i:i + bs]
                x, b = self.augment(img[j], box[j])
                out = self.net(x)
                loss, parts = self.total(out, kind[j], b, tone[j])
                self.opt.zero_grad()
                loss.backward()
                if CASE == 8:
                    nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                self.opt.step()
                self.step += 1
                nb += 1
                run += [loss.item()] + [p.item() for p in parts]
            if ep % 3 == 2:
                print("ep %d loss %.4f kind %.4f box %.5f tone %.5f" % ((ep,) + tuple(run / nb)))
                self.report(val)

    @torch.no_grad()
    def report(self, val, tag="val"):
        self.net.eval()
        img, kind, box, tone = val
        out = self.net(img)
        scale = 640 if CASE == 5 else 1
        acc = (out["kind"].argmax(1) == kind).float().mean().item()
        err = (out["box"] / scale - box).abs().mean().item() * S
        t = (out["tone"].squeeze(1) - tone).abs().mean().item()
        print("   %s: accuracy %.3f box error %.3f px tone error %.4f" % (tag, acc, err, t))


if __name__ == "__main__":
    train, val = dataset(1536, 1000 + SEED), dataset(400, 5000 + SEED)
    trainer = Trainer(Detector())
    trainer.fit(train, val, 24 if CASE == 9 else 15)
    trainer.report(val, "final")
