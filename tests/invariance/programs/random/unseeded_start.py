"""The states of Python's and numpy's generators are not touched before the program seeds them."""
import random

before = random.getstate()
import numpy

numpy_before = numpy.random.get_state()[1].tolist()
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(30):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print(before == random.getstate(), numpy_before == numpy.random.get_state()[1].tolist())
