"""A forever stream in 16 parallel lanes; the state is carried over and cut after 20 ticks. No epochs, no validation set:
each chunk is scored before it is learnt from (prequential)."""
import os, torch, torch.nn as nn
CASE = int(os.environ.get("CASE", "0")); SEED = int(os.environ.get("SEED", "0")); torch.manual_seed(SEED)

def valves(lanes=16, chunk=20):
    level = torch.zeros(lanes); mode = torch.zeros(lanes)
    while True:
        xs, ys = [], []
        for _ in range(chunk):
            kick = (torch.rand(lanes) < 0.08).float() * torch.randn(lanes) * 2
            mode = torch.where(kick != 0, (kick > 0).float(), mode)          # remembers the sign of the last kick
            level = 0.85 * level + torch.where(mode > 0.5, 0.3 * torch.ones(lanes), -0.3 * torch.ones(lanes)) + 0.1 * torch.randn(lanes)
            noise = 0.3 * torch.randn(lanes)
            xs.append(torch.stack([kick, noise], 1)); ys.append(level + 0.5 * noise)
        yield torch.stack(xs), torch.stack(ys)

class Filter(nn.Module):
    def __init__(self, h=40):
        super().__init__(); self.rnn = nn.LSTM(2, h); self.out = nn.Linear(h, 1)
    def forward(self, x, state):
        y, state = self.rnn(x, state); return self.out(y).squeeze(-1), state

net = Filter(); opt = torch.optim.RMSprop(net.parameters(), lr=5e-3)
state, ema, base = None, None, None
for step, (x, y) in enumerate(valves(), 1):
    pred, state = net(x, state)
    state = tuple(s.detach() for s in state)
    loss = (pred - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); nn.utils.clip_grad_norm_(net.parameters(), 0.5); opt.step()
    ema = loss.item() if ema is None else 0.97 * ema + 0.03 * loss.item()
    base = y.var().item() if base is None else 0.97 * base + 0.03 * y.var().item()
    if step % 30 == 0: print(f"tick {step*20:6d} chunk mse {loss.item():.4f} smoothed {ema:.4f} explained {1-ema/base:.3f}")
    if step == 360: break
