"""A thousand small modules in a step."""
import torch
import seen

torch.manual_seed(0)
torch.set_num_threads(1)
net = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(1000))
optimizer = torch.optim.SGD(net.parameters(), 0.001)
for step in range(12):
    optimizer.zero_grad()
    x = torch.randn(2, 2)
    for each in net:
        x = x + 0.001 * each(x)
    x.pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
