"""A graph of 20,000 operations in a row, and one in which each node is used twice (2 to the power of 40 ways)."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 1e-4)
for step in range(4):
    optimizer.zero_grad()
    output = net(torch.randn(8, 4))
    for _ in range(20000 if step % 2 else 10):
        output = output * 1.00001
    for _ in range(40):
        output = (output + output) / 2
    output.pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
