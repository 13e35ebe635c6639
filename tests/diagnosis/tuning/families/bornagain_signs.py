"""Born-again networks: generation k learns from labels and the soft outputs of generation k-1 (same architecture)."""
import os, logging
import torch, torch.nn as nn, torch.nn.functional as F
logging.basicConfig(level=logging.INFO, format="%(message)s"); log = logging.getLogger("ban")
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0"))
g = torch.Generator().manual_seed(SEED); torch.manual_seed(SEED)
K, D = 8, 20
centres = torch.randn(K, 3, D, generator=g)
def draw(n):
    y = torch.randint(K, (n,), generator=g); m = torch.randint(3, (n,), generator=g)
    x = centres[y, m] + 1.15 * torch.randn(n, D, generator=g)
    return x, y
xtr, ytr = draw(1500); xte, yte = draw(2000)

def build(): return nn.Sequential(nn.Linear(D, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, K))
def acc(m):
    m.eval()
    with torch.no_grad(): return (m(xte).argmax(1) == yte).float().mean().item()

def fit(teacher=None, T=2.0, epochs=15):
    student = build()
    opt = torch.optim.Adam(student.parameters(), 2e-3, weight_decay=1e-4)
    soft = None
    if teacher is not None:
        teacher.eval()
        with torch.no_grad(): soft = F.softmax(teacher(xtr) / T, 1)     # once, for the whole set
    for ep in range(epochs):
        student.train(); s = 0
        for i in torch.randperm(len(xtr)).split(50):
            out = student(xtr[i])
            loss = F.cross_entropy(out, ytr[i])
            if soft is not None:
                loss = 0.3 * loss + 0.7 * T * T * F.kl_div(F.log_softmax(out / T, 1), soft[i], reduction="batchmean")
            opt.zero_grad(); loss.backward(); opt.step(); s += loss.item() * len(i)
        if ep % 3 == 2: log.info("  epoch %d objective %.4f test acc %.3f", ep + 1, s / len(xtr), acc(student))
    return student

teacher, gens = None, []
for gen in range(3):
    log.info("generation %d (%s)", gen, "labels only" if teacher is None else "labels + previous generation")
    teacher = fit(teacher); gens.append(teacher)
    log.info("generation %d test acc %.3f", gen, acc(teacher))
with torch.no_grad():
    p = sum(F.softmax(m(xte), 1) for m in gens)
log.info("all generations together: %.3f", (p.argmax(1) == yte).float().mean().item())
