import io
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
CASE = int(os.environ.get("CASE", 0))
SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

SHAPES, COLOURS, PLACES = 6, 5, 4
FILLERS = 10
VOCAB = SHAPES + COLOURS + PLACES + FILLERS
S = 8
BATCH = {2: 16, 7: 2}.get(CASE, 64)
STEPS = {2: 700, 8: 600}.get(CASE, 450)
LR = {5: 8e-3, 2: 2e-3}.get(CASE, 3e-3)
SELF = CASE in (10, 11)

masks = (torch.rand(SHAPES, 4, 4) > 0.5).float()
palette = torch.tensor([[1, .1, .1], [.1, 1, .1], [.1, .2, 1], [1, 1, .1], [.9, .2, .9]])


def sample(n, gen=None):
    k = torch.randint(0, SHAPES, (n,), generator=gen)
    c = torch.randint(0, COLOURS, (n,), generator=gen)
    p = torch.randint(0, PLACES, (n,), generator=gen)
    return k, c, p


def render(k, c, p):
    n = len(k)
    img = torch.zeros(n, 3, S, S)
    patch = palette[c][:, :, None, None] * masks[k][:, None]
    for j in range(PLACES):
        sel = p == j
        y, x = 4 * (j // 2), 4 * (j % 2)
        img[sel, :, y:y + 4, x:x + 4] = patch[sel]
    return img + 0.25 * torch.randn_like(img)


def caption(k, c, p):
    n = len(k)
    fill = torch.randint(VOCAB - FILLERS, VOCAB, (n, 3))
    words = torch.cat([k[:, None], SHAPES + c[:, None], SHAPES + COLOURS + p[:, None], fill], 1)
    return words.gather(1, torch.rand(n, 6).argsort(1))


def augment(x):
    n = len(x)
    gain = 0.6 + 0.8 * torch.rand(n, 3, 1, 1)
    keep = (torch.rand(n, 1, S, S) > 0.15).float()
    return x * gain * keep + 0.15 * torch.randn_like(x)


class ImageTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 24, 3, 2, 1), nn.ReLU(),
                                 nn.Flatten(), nn.Linear(24 * 16, 96), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class TextTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 48)
        self.net = nn.Sequential(nn.Linear(48, 96), nn.ReLU())

    def forward(self, w):
        return self.net(self.emb(w).mean(1) * 3)


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = ImageTower()
        self.text = TextTower()
        self.image_proj = nn.Linear(96, 32)
        self.text_proj = nn.Linear(96, 32)
        self.logit_scale = nn.Parameter(torch.tensor(2.3))

    def embed_image(self, x):
        v = self.image_proj(self.image(x))
        return v if CASE == 1 else F.normalize(v, dim=1)

    def embed_text(self, w):
        v = self.text_proj(self.text(w))
        return v if CASE == 1 else F.normalize(v, dim=1)


def info_nce(a, b, scale):
    logits = scale * a @ b.t()
    target = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))


def ratio_loss(a, b):
    sim = torch.exp(a @ b.t() / 0.07)
    pos = sim.diag()
    return -torch.log(pos / (sim.sum(1) - pos)).mean()


n_train = 2400
attrs = sample(n_train)
images, words = render(*attrs), caption(*attrs)
grid = torch.cartesian_prod(torch.arange(SHAPES), torch.arange(COLOURS), torch.arange(PLACES)).unbind(1)
val_images, val_words = render(*grid), caption(*grid)

model = TwoTowers()
if CASE == 9:
    for name, q in model.named_parameters():
        q.requires_grad_(name.startswith(("text_proj", "logit_scale")))
if CASE == 8:
    for q in model.text.parameters():
        q.requires_grad_(False)
opt = torch.optim.Adam([q for q in model.parameters() if q.requires_grad], lr=LR)


@torch.no_grad()
def recall():
    model.eval()
    a, b = model.embed_image(val_images), model.embed_text(val_words)
    r = ((a @ b.t()).argmax(1) == torch.arange(len(a))).float().mean().item()
    model.train()
    return r


perm_a, perm_b = torch.randperm(n_train), torch.randperm(n_train)
at = 0
for step in range(STEPS):
    if at + BATCH > n_train:
        perm_a, perm_b, at = torch.randperm(n_train), torch.randperm(n_train), 0
    idx = perm_a[at:at + BATCH]
    jdx = perm_b[at:at + BATCH] if CASE == 3 else idx
    at += BATCH
    if SELF:
        v1, v2 = augment(images[idx]), augment(images[idx])
        a = model.embed_image(v1)
        b = model.embed_image(v1 if CASE == 11 else v2)
        loss = info_nce(a, b, 8.0)
    else:
        a, b = model.embed_image(images[idx]), model.embed_text(words[jdx])
        if CASE == 1:
            loss = ratio_loss(a, b)
        elif CASE == 4:
            loss = (1 - (a * b).sum(1)).mean()
        else:
            loss = info_nce(a, b, model.logit_scale.exp().clamp(max=50))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        print(f"step {step + 1} loss {loss.item():.4f}" + ("" if SELF else f" val R@1 {recall():.3f}"))

store = io.BytesIO()
torch.save({"model": model.state_dict()}, store)
store.seek(0)
state = torch.load(store)["model"]
backbone = ImageTower()
if CASE == 6:
    backbone.load_state_dict(state, strict=False)
else:
    backbone.load_state_dict({k[len("image."):]: v for k, v in state.items() if k.startswith("image.")})
backbone.eval()
with torch.no_grad():
    feats, vfeats = backbone(images), backbone(val_images)
    m, s = feats.mean(0), feats.std(0) + 1e-4
    feats, vfeats = (feats - m) / s, (vfeats - m) / s
probe = nn.Linear(96, SHAPES)
popt = torch.optim.Adam(probe.parameters(), lr=1e-2)
for step in range(120):
    idx = torch.randint(0, 240, (64,))
    loss = F.cross_entropy(probe(feats[idx]), attrs[0][idx])
    popt.zero_grad()
    loss.backward()
    popt.step()
    if step % 40 == 39:
        acc = (probe(vfeats).argmax(1) == grid[0]).float().mean().item()
        print(f"probe {step + 1} loss {loss.item():.4f} shape accuracy {acc:.3f}")
