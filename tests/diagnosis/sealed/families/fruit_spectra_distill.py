"""
Fruit sorting from near-infrared spectra: ripeness grade, sugar content, bruise.
A wide network is fitted first, a small one then learns from labels and from the wide one.
"""
import io
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)

BANDS, GRADES = 48, 5


def spectra(n, rng):
    ripe = rng.uniform(0, 1, n)
    water = rng.uniform(0.3, 1, n)
    sugar = 8 + 7 * ripe ** 1.5 + 1.5 * rng.normal(0, 1, n) * 0.6
    bruise = rng.rand(n) < 0.3
    w = np.linspace(0, 1, BANDS)

    def peak(c, s):
        return np.exp(-0.5 * ((w - c) / s) ** 2)
    x = (water[:, None] * peak(0.7, 0.12) * 1.5
         + (1 - ripe)[:, None] * peak(0.22, 0.05) * 1.2
         + (sugar / 15)[:, None] * peak(0.48, 0.06)
         + bruise[:, None] * (peak(0.33, 0.02) - peak(0.38, 0.02)) * 0.55
         + rng.normal(0, 0.4, (n, 1)) + rng.normal(0, 0.35, (n, 1)) * w + rng.normal(0, 0.10, (n, BANDS)))
    grade = np.minimum((ripe * GRADES).astype(int), GRADES - 1)
    return (torch.tensor(x, dtype=torch.float32).unsqueeze(1), torch.tensor(grade),
            torch.tensor(sugar, dtype=torch.float32), torch.tensor(bruise.astype(np.float32)))


class SpectraNet(nn.Module):
    def __init__(self, c, drop):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, c, 5, padding=2), nn.BatchNorm1d(c), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(c, 2 * c, 5, padding=2), nn.BatchNorm1d(2 * c), nn.ReLU(), nn.MaxPool1d(2))
        self.neck = nn.Sequential(nn.Flatten(), nn.Linear(2 * c * (BANDS // 4), 4 * c), nn.ReLU(), nn.Dropout(drop))
        self.grade = nn.Linear(4 * c, GRADES)
        self.sugar = nn.Linear(4 * c, 1)
        self.bruise = nn.Linear(4 * c, 1)

    def forward(self, x):
        f = self.body(x)
        h = self.neck(f)
        return {"feat": f, "grade": self.grade(h), "sugar": self.sugar(h).squeeze(1), "bruise": self.bruise(h).squeeze(1)}


def loader(data, bs):
    perm = torch.randperm(len(data[1]))
    for i in range(0, len(perm) - bs + 1, bs):
        j = perm[i:i + bs]
        yield [d[j] for d in data]


SUGAR_MEAN, SUGAR_SD = 10.9, 2.2


def task_losses(o, g, s, b):
    if CASE == 9:
        target = s * 1000.0                     # mg per kg, as the lab reports it
    else:
        target = (s - SUGAR_MEAN) / SUGAR_SD
    return [F.cross_entropy(o["grade"], g), F.mse_loss(o["sugar"], target),
            F.binary_cross_entropy_with_logits(o["bruise"], b)]


class Balance(nn.Module):
    """learned weight of every task"""
    def __init__(self, n):
        super().__init__()
        self.eta = nn.Parameter(torch.full((n,), 1.0) if CASE == 4 else torch.zeros(n))

    def forward(self, losses):
        if CASE == 2:
            stack = torch.Tensor(losses)
        else:
            stack = torch.stack(losses)
        return (stack * torch.exp(-self.eta) + self.eta).sum()


def fit_teacher(data):
    net = SpectraNet(24, 0.1)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for ep in range(5):
        for x, g, s, b in loader(data, 64):
            o = net(x)
            z = [F.cross_entropy(o["grade"], g), F.mse_loss(o["sugar"], (s - SUGAR_MEAN) / SUGAR_SD),
                 F.binary_cross_entropy_with_logits(o["bruise"], b)]
            loss = sum(z)
            opt.zero_grad()
            loss.backward()
            opt.step()
    buf = io.BytesIO()
    torch.save({"state": {"module." + k: v for k, v in net.state_dict().items()}}, buf)
    buf.seek(0)
    return buf


def load_teacher(buf):
    net = SpectraNet(24, 0.1)
    state = torch.load(buf)["state"]
    if CASE == 5:
        net.load_state_dict(state, strict=False)
    else:
        net.load_state_dict({k.replace("module.", "", 1): v for k, v in state.items()})
    net.eval()
    for p in net.parameters():
        p.requires_grad_(False)
    return net


def soften(zs, zt, T=3.0):
    if CASE == 1:
        return F.kl_div(F.softmax(zs / T, 1), F.softmax(zt / T, 1), reduction="batchmean") * T * T
    return F.kl_div(F.log_softmax(zs / T, 1), F.softmax(zt / T, 1), reduction="batchmean") * T * T


@torch.no_grad()
def report(net, data, tag):
    net.eval()
    x, g, s, b = data
    o = net(x)
    acc = (o["grade"].argmax(1) == g).float().mean().item()
    p = o["sugar"] / 1000.0 if (CASE == 9 and tag == "student") else o["sugar"] * SUGAR_SD + SUGAR_MEAN
    mae = (p - s).abs().mean().item()
    br = ((o["bruise"] > 0).float() == b).float().mean().item()
    print(f"{tag}: grade acc {acc:.3f}  sugar mae {mae:.3f}  bruise acc {br:.3f}", flush=True)
    net.train()


def main():
    rng = np.random.RandomState(SEED + 3)
    data, test = spectra(2000, rng), spectra(600, rng)
    teacher = load_teacher(fit_teacher(data))
    report(teacher, test, "teacher")
    teacher.eval()

    few = [d[:800] for d in data]
    student = SpectraNet(6, 0.0)
    adapter = nn.Conv1d(12, 48, 1)
    balance = Balance(3)
    groups = [{"params": student.parameters()}]
    use_hint = CASE in (0, 3, 7)
    use_balance = CASE in (2, 4, 6)
    if use_hint and CASE != 3:
        groups.append({"params": adapter.parameters()})
    if use_balance and CASE != 4:
        groups.append({"params": balance.parameters(), "lr": 2e-2})
    lr = 3e-3
    if CASE == 10:
        opt = torch.optim.SGD(groups, lr=0.05, momentum=0.9, nesterov=True)
    else:
        opt = torch.optim.AdamW(groups, lr=lr, weight_decay=1e-4)
    epochs, bs, accum = 12, 32, 1
    if CASE in (8, 11):
        bs, accum = 8, 4
    steps = epochs * (len(few[1]) // bs)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, [g["lr"] for g in opt.param_groups], total_steps=steps // accum + 1, pct_start=0.2)

    student.train()
    n = 0
    for ep in range(epochs):
        for x, g, s, b in loader(few, bs):
            if CASE == 12:
                x = x + 0.15 * torch.randn_like(x)
            with torch.no_grad():
                t = teacher(x)
            if CASE == 7:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    o = student(x)
                o = {k: v.float() for k, v in o.items()}
            else:
                o = student(x)
            z = task_losses(o, g, s, b)
            task = balance(z) if use_balance else sum(z)
            soft = soften(o["grade"], t["grade"])
            if CASE in (1, 5):
                loss = 0.1 * z[0] + z[1] + z[2] + 0.9 * soft
            elif CASE == 12:
                loss = soft + F.mse_loss(o["sugar"], t["sugar"]) + F.binary_cross_entropy_with_logits(o["bruise"], torch.sigmoid(t["bruise"]))
            elif use_balance or CASE == 9:
                loss = task
            else:
                loss = task + 0.5 * soft
            if use_hint:
                loss = loss + 0.5 * F.mse_loss(adapter(o["feat"]), t["feat"])
            if accum == 1 or n % accum == 0 or CASE == 8:
                opt.zero_grad()
            (loss / accum).backward()
            n += 1
            if n % accum == 0:
                if CASE == 10:
                    nn.utils.clip_grad_norm_(student.parameters(), 1.0)
                opt.step()
                sched.step()
            if n % 60 == 0:
                print(f"step {n} loss {loss.item():.4f} tasks " + " ".join(f"{v.item():.3f}" for v in z), flush=True)
    report(student, test, "student")
    if use_balance:
        print("weights", [round(v, 3) for v in torch.exp(-balance.eta).tolist()])


if __name__ == "__main__":
    main()
