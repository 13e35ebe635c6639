"""Models that are dropped (cross validation, wandb#2644, ML4SCI#141): is their memory given back?"""
import gc
import weakref
import torch

dropped = []


def fold(number):
    torch.manual_seed(number)
    net = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    for step in range(6):
        optimizer.zero_grad()
        net(torch.randn(2, 1024)).pow(2).mean().backward()
        optimizer.step()
    dropped.append([weakref.ref(each) for each in (*net.parameters(), net, optimizer)])


for number in range(6):
    fold(number)
    gc.collect()
    print(number, [sum(each() is not None for each in fold) for fold in dropped])
