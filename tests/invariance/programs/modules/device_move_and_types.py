"""double(), half-way through float(), apply(), share_memory() and requires_grad_() in the middle of a training."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.05)
seen.train(net, 10, optimizer)
net.double()
optimizer = torch.optim.SGD(net.parameters(), 0.05)
for step in range(10):
    optimizer.zero_grad()
    net(torch.randn(8, 4).double()).pow(2).mean().backward()
    optimizer.step()
net.float().apply(lambda module: module.train()).requires_grad_(True).share_memory()
net[0].weight.requires_grad_(False)
seen.train(net, 10)
print(net[0].weight.dtype, net[0].weight.grad, seen.digest(net))
