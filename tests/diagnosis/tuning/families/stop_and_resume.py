import os, tempfile, torch
from torch import nn
CASE, SEED = int(os.environ.get("CASE", "0")), int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)
n = 3000
x = torch.randn(n, 14); w = torch.randn(14)
y = torch.sin(x @ w * .5) + .5 * torch.relu(x[:, 0] - x[:, 1]) + .3 * torch.randn(n)
data = {"train": (x[:2400], y[:2400]), "val": (x[2400:], y[2400:])}

class Session:
    """Everything that has to survive an interruption: weights, optimizer, scheduler, counters, random state."""
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(14, 80), nn.ELU(), nn.Linear(80, 80), nn.ELU(), nn.Linear(80, 1))
        self.opt = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 5, 0.5)
        self.gen = torch.Generator().manual_seed(SEED); self.epoch = 0
    def save(self, path):
        torch.save(dict(m=self.model.state_dict(), o=self.opt.state_dict(), s=self.sched.state_dict(), e=self.epoch, g=self.gen.get_state()), path)
    @classmethod
    def load(cls, path):
        s, c = cls(), torch.load(path)
        s.model.load_state_dict(c["m"]); s.opt.load_state_dict(c["o"]); s.sched.load_state_dict(c["s"]); s.epoch = c["e"]; s.gen.set_state(c["g"])
        return s
    def run(self, until):
        x, y = data["train"]
        while self.epoch < until:
            tot = 0.
            for i in torch.randperm(len(x), generator=self.gen).split(48):
                loss = nn.functional.mse_loss(self.model(x[i])[:, 0], y[i])
                self.opt.zero_grad(); loss.backward(); self.opt.step(); tot += loss.item() / 50
            self.sched.step(); self.epoch += 1
            print(f"epoch {self.epoch} train {tot:.5f} val {self.val():.5f} lr {self.sched.get_last_lr()[0]:.5f}")
        return self
    @torch.no_grad()
    def val(self): x, y = data["val"]; return nn.functional.mse_loss(self.model(x)[:, 0], y).item()

with tempfile.TemporaryDirectory() as d:
    f = os.path.join(d, "last.pt")
    first = Session().run(6); first.save(f); v = first.val(); del first
    print("-- interrupted; starting again from", os.path.basename(f))
    again = Session.load(f); assert abs(again.val() - v) < 1e-7
    again.run(16)
print(f"R2 {1 - again.val() / data['val'][1].var().item():.4f}")
