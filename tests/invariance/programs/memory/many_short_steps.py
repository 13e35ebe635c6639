"""Memory of 6,000 short steps after the first 500."""
import resource
import torch
import seen

torch.set_num_threads(1)
net = torch.nn.Linear(4, 1)
with torch.no_grad():
    net.weight.fill_(0.5)
    net.bias.fill_(0.1)
optimizer = torch.optim.SGD(net.parameters(), 1e-3)


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() >> 20


for step in range(6000):
    optimizer.zero_grad()
    net(torch.ones(2, 4)).pow(2).mean().backward()
    optimizer.step()
    if step == 500:
        before = resident()
print("grows", resident() - before > 8, seen.digest(net))
