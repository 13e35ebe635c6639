"""The same training with a hook of its own: what is captured is said in the program."""

import torch
import trainwarden
import trainwarden.torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.MSELoss()

with trainwarden.Hook("runs/explicit", include_collections=["weights", "gradients"], save=100) as hook:
    watcher = trainwarden.torch.watch(hook, net, optimizer=optimizer, loss=criterion)
    for step in range(2000):
        x = torch.rand(256, 1) * 6 - 3
        optimizer.zero_grad()
        loss = criterion(net(x), x.sin())
        loss.backward()
        optimizer.step()
        hook.save_scalar("learning rate", optimizer.param_groups[0]["lr"])
        if watcher.step().stop_requested:
            break
