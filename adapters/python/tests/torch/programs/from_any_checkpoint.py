"""Saves its state to the path of argument 1 after step 11, and ends itself after step 15 unless it has gone on from there."""

import os
import signal
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
path, start = sys.argv[1], 0
if os.path.exists(path):
    state = torch.load(path)
    net.load_state_dict(state["net"])
    start = state["step"]
for step in range(start, 20):
    torch.manual_seed(step)
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    if step == 11 and start == 0:
        torch.save({"net": net.state_dict(), "step": 12}, path)
    if step == 15 and start == 0 and "--whole" not in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
print(start, [float(each) for each in net.weight.detach().reshape(-1)])
