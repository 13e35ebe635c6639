"""A training is killed at step 70 and goes on from its checkpoint in a second process (wandb#4482, wandb#2258)."""
import os
import subprocess
import sys
import torch
import seen

if len(sys.argv) == 1:
    for _ in range(2):
        done = subprocess.run([sys.executable, __file__, "train"], capture_output=True, text=True)
        print(done.returncode, done.stdout.strip())
    sys.exit()
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), 0.01)
start = 0
if os.path.exists("checkpoint.pt"):
    state = torch.load("checkpoint.pt")
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    start = state["step"]
for step in range(start, 100):
    torch.manual_seed(step)
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    if step == 49 and start == 0:
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": 50}, "checkpoint.pt")
    if step == 69 and start == 0:
        os.kill(os.getpid(), 9)
print(start, seen.digest(net))
