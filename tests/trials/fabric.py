"""Lightning's Fabric, alone and with torch.compile under it."""

import sys

import lightning
import torch
from ending import end, say_loss
from tiny import Net, batch
from torch.nn import functional as F

STEPS = 10
fabric = lightning.Fabric(accelerator="cpu", devices=1)
torch.manual_seed(11)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
called, optimizer = fabric.setup(torch.compile(model) if sys.argv[1] == "compiled" else model, optimizer)
for step in range(STEPS):
    x, y = batch(step)
    loss = F.cross_entropy(called(x), y)
    fabric.backward(loss)
    fabric.clip_gradients(called, optimizer, max_norm=1.0)
    optimizer.step()
    optimizer.zero_grad()
    say_loss(step, loss)
called.eval()
with torch.no_grad():
    say_loss("eval", F.cross_entropy(called(batch(99)[0]), batch(99)[1]))
names = ["stem.weight", "gradient/head.weight", "Net_output_0"]
end(STEPS, model, names=names, loss="nll_loss_output_0")
