"""The states of torch's, numpy's and Python's generators after a training with dropout and a shuffled DataLoader."""
import random
import numpy
import torch
from torch.utils.data import DataLoader
import seen

torch.manual_seed(0)
numpy.random.seed(0)
random.seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(5):
    for x in DataLoader(torch.randn(32, 4), 8, shuffle=True):
        optimizer.zero_grad()
        net(x + numpy.random.rand() + random.random()).pow(2).mean().backward()
        optimizer.step()
print(seen.random_states(), torch.initial_seed(), torch.rand(2), numpy.random.rand(), random.random(), seen.digest(net))
