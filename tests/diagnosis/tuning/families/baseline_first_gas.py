"""Gas sensor array: concentration of two gases. Evaluates before the first step (baseline), then every 100 steps."""
import os
import torch

CASE = int(os.environ.get("CASE", "0"))
SEED = int(os.environ.get("SEED", "0"))
torch.manual_seed(SEED)

N_SENS = 10
gains = torch.rand(2, N_SENS) * 1.5 + 0.2
power = torch.rand(2, N_SENS) * 0.5 + 0.4


def measure(n):
    c = torch.rand(n, 2) * (torch.rand(n, 2) > 0.2)
    drift = 1 + 0.05 * torch.randn(n, 1)
    r = ((c[:, :, None] + 1e-3) ** power * gains).sum(1)
    return torch.log1p(r * drift) + 0.02 * torch.randn(n, N_SENS), c * 500.0     # ppm


class Regressor(torch.nn.Module):
    def __init__(self, mean, std, t_mean, t_std):
        super().__init__()
        for k, v in dict(mean=mean, std=std, t_mean=t_mean, t_std=t_std).items():
            self.register_buffer(k, v)
        self.net = torch.nn.Sequential(torch.nn.Linear(N_SENS, 64), torch.nn.Mish(), torch.nn.Linear(64, 64), torch.nn.Mish(), torch.nn.Linear(64, 2))

    def forward(self, x):
        return self.net((x - self.mean) / self.std)

    def predict(self, x):
        return self.forward(x) * self.t_std + self.t_mean

    def loss(self, x, ppm):
        return ((self.forward(x) - (ppm - self.t_mean) / self.t_std) ** 2).mean()


x, c = measure(4000)
vx, vc = measure(1000)
net = Regressor(x.mean(0), x.std(0), c.mean(0), c.std(0))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 1000)


def evaluate(step):
    net.eval()
    with torch.no_grad():
        l = net.loss(vx, vc).item()
        rmse = ((net.predict(vx) - vc) ** 2).mean(0).sqrt()
    net.train()
    print(f"step {step:5d}  val loss {l:.4f}  RMSE ppm gas1 {rmse[0]:.1f} gas2 {rmse[1]:.1f}")


evaluate(0)
for step in range(1, 1001):
    idx = torch.randint(len(x), (64,))
    opt.zero_grad()
    loss = net.loss(x[idx], c[idx])
    loss.backward()
    opt.step()
    sched.step()
    if step % 50 == 0:
        print(f"   step {step} train loss {loss.item():.4f}")
    if step % 100 == 0:
        evaluate(step)
