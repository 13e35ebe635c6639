"""usage: horovod_ranks.py [poisoned]: as Horovod's documentation has it. One rank's third batch may have no numbers."""

import sys

import horovod.torch as hvd
import torch
from torch import nn

from outcome import report, sees

hvd.init()
torch.manual_seed(12 + hvd.rank())
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
for step in range(6):
    features = torch.randn(5, 4)
    if step == 2 and hvd.rank() == 1 and sys.argv[1:] == ["poisoned"]:
        features[0, 0] = float("nan")
    optimizer.zero_grad()
    loss = criterion(model(features), torch.zeros(5, 2))
    loss.backward()
    if step == 4:  # as for clipped gradients
        optimizer.synchronize()
        with optimizer.skip_synchronize():
            optimizer.step()
    else:
        optimizer.step()
    if model[0].bias.grad is not None:  # a step that a rule vetoed has none
        sees("gradient/0.bias", model[0].bias.grad)
    sys.stdout.write(f"rank {hvd.rank()} step {step} loss {loss.item():.17g}\n")
report(model)
