"""A plain loop: what the layout of an environment is tried with."""

import torch
from ending import end, say_loss
from tiny import Net, batch
from torch.nn import functional as F

torch.manual_seed(1)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(12):
    x, y = batch(step)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    say_loss(step, loss)
end(12, model, names=["stem.weight", "blocks.1.up_output_0"], loss="nll_loss_output_0")
