"""The training is called at the bottom of 930 frames of the program's own."""
import torch
import seen


def descend(depth):
    if depth > 0:
        return descend(depth - 1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(10):
        optimizer.zero_grad()
        net(torch.ones(8, 4)).pow(2).mean().backward()
        optimizer.step()
    return net


torch.manual_seed(0)
seen.small_net()
print(seen.digest(descend(930)))
