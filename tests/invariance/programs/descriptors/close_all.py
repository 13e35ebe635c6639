"""A program closes all descriptors and opens files of its own (python-daemon): nobody else's bytes get into them."""
import glob
import os
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.01)


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        net(torch.randn(8, 64)).pow(2).mean().backward()
        optimizer.step()


train(30)
os.closerange(3, 256)
files = [open(f"own{number}.txt", "w") for number in range(40)]
for file in files:
    file.write("mine\n")
    file.flush()
train(1500)
bad = [name for name in sorted(glob.glob("own*.txt")) if open(name, "rb").read() != b"mine\n"]
print(bad, seen.digest(net), flush=True)
for file in files:
    file.close()
