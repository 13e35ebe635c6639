"""Who refers to a model, its optimizer and its parameters, by the types of the referrers."""
import collections
import gc
import torch
import seen

net = torch.nn.Linear(4, 1)
seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(30):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1)).backward()
    optimizer.step()
for thing in (net, optimizer, net.weight, net.weight.grad):
    print(sorted(collections.Counter(type(each).__name__ for each in gc.get_referrers(thing)).items()))
