"""Trains 40 steps with dropout on random data, saves every 5 steps, and goes on with what it finds saved.

Its argument: the step before which it is killed, in its first attempt. It prints how often it was there before, and the sum
of its weights, whole.
"""

import os
import signal
import sys

import torch

path = os.path.join(os.environ["TRAINWARDEN_CHECKPOINT_DIR"], "last.pt")
kill_before = int(sys.argv[1])
torch.manual_seed(7)
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
first = 0
if os.path.exists(path):
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["rng"])
    first = saved["step"]
for step in range(first, 40):
    if step == kill_before and first == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 6)), torch.randint(2, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state()}
        torch.save({**state, "step": step + 1}, path)
print(first, sum(float(weights.double().sum()) for weights in model.parameters()).hex())
