"""Few-shot sine regression: MAML and its relatives, with functional inner loops."""
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

CASE = int(os.environ.get("CASE", "5"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

HID = 40
SHOTS = 10


def sample_tasks(n):
    if CASE == 2:
        torch.manual_seed(SEED)
    amp = torch.rand(n, 1, 1) * 3 + 0.5
    phase = torch.rand(n, 1, 1) * math.pi
    xs = torch.rand(n, SHOTS, 1) * 8 - 4
    xq = torch.rand(n, SHOTS, 1) * 8 - 4
    return xs, amp * torch.sin(xs + phase), xq, amp * torch.sin(xq + phase)


_g = torch.Generator().manual_seed(1234 + SEED)
_amp = torch.rand(200, 1, 1, generator=_g) * 3 + 0.5
_ph = torch.rand(200, 1, 1, generator=_g) * math.pi
_xs = torch.rand(200, SHOTS, 1, generator=_g) * 8 - 4
_xq = torch.rand(200, 50, 1, generator=_g) * 8 - 4
TEST = (_xs, _amp * torch.sin(_xs + _ph), _xq, _amp * torch.sin(_xq + _ph))


class SineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(1, HID)
        self.l2 = nn.Linear(HID, HID)
        self.l3 = nn.Linear(HID, 1)

    def forward(self, x):
        return self.l3(torch.relu(self.l2(torch.relu(self.l1(x)))))


def net(params, x):
    """params: w1 b1 w2 b2 w3 b3, each with a leading dimension for the task"""
    w1, b1, w2, b2, w3, b3 = params
    h = torch.relu(torch.baddbmm(b1.unsqueeze(1), x, w1.transpose(1, 2)))
    h = torch.relu(torch.baddbmm(b2.unsqueeze(1), h, w2.transpose(1, 2)))
    return torch.baddbmm(b3.unsqueeze(1), h, w3.transpose(1, 2))


def per_task(y, t):
    return ((y - t) ** 2).mean(dim=(1, 2))


def expand(params, n):
    return [p.unsqueeze(0).expand(n, *p.shape) for p in params]


def adapt(fast, xs, ys, lr=0.03, steps=1, create_graph=True, only=None):
    lrs = lr if isinstance(lr, (list, nn.ParameterList)) else [lr] * len(fast)
    for _ in range(steps):
        loss = per_task(net(fast, xs), ys).sum()
        which = range(len(fast)) if only is None else only
        grads = torch.autograd.grad(loss, [fast[i] for i in which], create_graph=create_graph)
        fast = list(fast)
        for i, g in zip(which, grads):
            if not create_graph:
                g = g.detach()
            fast[i] = fast[i] - lrs[i] * g
        if CASE == 3:
            fast = [f.detach().requires_grad_(True) for f in fast]
    return fast


def test_loss(params, steps=5, lr=0.03, only=None):
    fast = [p.detach().clone().requires_grad_(True) for p in expand(params, 200)]
    fast = adapt(fast, TEST[0], TEST[1], lr=lr, steps=steps, create_graph=False, only=only)
    with torch.no_grad():
        return per_task(net(fast, TEST[2]), TEST[3]).mean().item()


class MetaLearner:
    def __init__(self, model, meta_lr=3e-3, inner_lr=0.03, tasks=16, inner_steps=1, first_order=False):
        self.model = model
        self.inner_lr, self.tasks, self.inner_steps = inner_lr, tasks, inner_steps
        self.first_order = first_order
        self.opt = torch.optim.Adam(model.parameters(), lr=meta_lr)

    def meta_step(self):
        xs, ys, xq, yq = sample_tasks(self.tasks)
        fast = expand(list(self.model.parameters()), self.tasks)
        fast = adapt(fast, xs, ys, self.inner_lr, self.inner_steps, create_graph=not self.first_order)
        loss = per_task(net(fast, xq), yq).mean()
        if CASE != 4:
            self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, iterations, report=300):
        avg = None
        for it in range(1, iterations + 1):
            l = self.meta_step()
            avg = l if avg is None else 0.98 * avg + 0.02 * l
            if it % report == 0:
                print(f"iteration {it}: meta loss {avg:.4f}  test after 5 steps {test_loss(list(self.model.parameters())):.4f}")


def task_by_task(model, iterations=350, inner_lr=0.03, inner_steps=3):
    """first-order MAML written with an ordinary module, one task after the other"""
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for it in range(1, iterations + 1):
        xs, ys, xq, yq = sample_tasks(4)
        opt.zero_grad()
        total, acc = 0.0, [torch.zeros_like(p) for p in model.parameters()]
        for k in range(4):
            start = [p.detach().clone() for p in model.parameters()]
            for _ in range(inner_steps):
                g = torch.autograd.grad(F.mse_loss(model(xs[k]), ys[k]), list(model.parameters()))
                with torch.no_grad():
                    for p, gi in zip(model.parameters(), g):
                        p -= inner_lr * gi
            q = F.mse_loss(model(xq[k]), yq[k])
            g = torch.autograd.grad(q, list(model.parameters()))
            if CASE != 1:
                with torch.no_grad():
                    for p, s in zip(model.parameters(), start):
                        p.copy_(s)
            for a, gi in zip(acc, g):
                a += gi / 4
            total += q.item() / 4
        for p, a in zip(model.parameters(), acc):
            p.grad = a
        opt.step()
        if it % 70 == 0:
            print("it", it, "query loss", round(total, 4), "test", round(test_loss(list(model.parameters())), 4))


def reptile(model, iterations=1200, inner_lr=0.05, inner_steps=8):
    for it in range(iterations):
        eps = 0.2 * (1 - it / iterations) + 0.005
        xs, ys, xq, yq = sample_tasks(1)
        x, y = torch.cat([xs, xq], 1)[0], torch.cat([ys, yq], 1)[0]
        before = {k: v.clone() for k, v in model.state_dict().items()}
        opt = torch.optim.SGD(model.parameters(), lr=inner_lr)
        for _ in range(inner_steps):
            loss = F.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        after = model.state_dict()
        model.load_state_dict({k: before[k] + eps * (after[k] - before[k]) for k in before})
        if it % 200 == 199:
            print("task", it + 1, "last inner loss %.4f" % loss.item(), "test %.4f" % test_loss(list(model.parameters())))


def anil(model, iterations=1200):
    """only the last layer adapts; body and head have an optimizer each"""
    body = [p for n, p in model.named_parameters() if not n.startswith("l3")]
    opt_body = torch.optim.Adam(body, lr=3e-3)
    opt_head = torch.optim.RMSprop(model.l3.parameters(), lr=1e-3)
    for it in range(1, iterations + 1):
        xs, ys, xq, yq = sample_tasks(16)
        fast = adapt(expand(list(model.parameters()), 16), xs, ys, lr=0.03, steps=2, only=[4, 5])
        loss = per_task(net(fast, xq), yq).mean()
        opt_body.zero_grad()
        opt_head.zero_grad()
        loss.backward()
        opt_body.step()
        opt_head.step()
        if it % 300 == 0:
            print(it, loss.item(), test_loss(list(model.parameters()), only=[4, 5]))


def protonet():
    """prototypical network: 5-way 3-shot on clusters that lie in a hidden 3-d subspace"""
    mix = torch.randn(16, 3)
    enc = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))
    opt = torch.optim.AdamW(enc.parameters(), lr=1e-3)

    def episode(ways=5, shots=3, queries=8):
        centre = torch.randn(ways, 1, 3) * 1.5
        z = centre + 0.3 * torch.randn(ways, shots + queries, 3)
        x = z @ mix.t() + 2.5 * torch.randn(ways, shots + queries, 16) * torch.linspace(0.2, 1.4, 16)
        return x[:, :shots], x[:, shots:].reshape(-1, 16), torch.arange(ways).repeat_interleave(queries)

    def logits(s, q):
        proto = enc(s).mean(1)
        return -torch.cdist(enc(q), proto) ** 2 / 4

    def evaluate():
        with torch.no_grad():
            acc = []
            for _ in range(100):
                s, q, y = episode()
                acc.append((logits(s, q).argmax(1) == y).float().mean())
        return torch.stack(acc).mean().item()

    print("untrained", evaluate())
    for i in range(1500):
        s, q, y = episode()
        loss = F.cross_entropy(logits(s, q), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 300 == 299:
            print("episode", i + 1, "loss", round(loss.item(), 3), "acc", round(evaluate(), 4))
    return evaluate()


def meta_sgd(model, iterations=1200):
    lrs = nn.ParameterList([nn.Parameter(torch.full_like(p, 0.02)) for p in model.parameters()])
    everything = list(model.parameters()) + list(lrs)
    opt = torch.optim.Adam(everything, lr=3e-3)
    for it in range(1, iterations + 1):
        xs, ys, xq, yq = sample_tasks(16)
        fast = adapt(expand(list(model.parameters()), 16), xs, ys, lr=lrs)
        loss = per_task(net(fast, xq), yq).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(everything, 0.5)
        opt.step()
        if it % 300 == 0:
            print("step %d loss %.4f" % (it, loss.item()))
    return test_loss(list(model.parameters()), steps=1, lr=[l.detach() for l in lrs])


model = SineNet()
if CASE == 9:
    print("METRIC acc %.4f" % protonet())
else:
    print("before meta-training, after 5 steps: %.4f" % test_loss(list(model.parameters())))
    if CASE in (1, 6):
        task_by_task(model)
        metric = test_loss(list(model.parameters()))
    elif CASE == 7:
        reptile(model)
        metric = test_loss(list(model.parameters()))
    elif CASE == 8:
        anil(model)
        metric = test_loss(list(model.parameters()), only=[4, 5])
    elif CASE == 10:
        metric = meta_sgd(model)
    else:
        MetaLearner(model).fit(1200)
        metric = test_loss(list(model.parameters()))
    print("METRIC mse %.4f" % metric)
