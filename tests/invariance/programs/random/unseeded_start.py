"""The states of Python's and numpy's generators are not touched before the program seeds them."""
import random

before = random.getstate()
import numpy

numpy_before = numpy.random.get_state()[1].tolist()
import torch
import seen

net = torch.nn.Linear(4, 1)
seen.train(net, 30)
print(before == random.getstate(), numpy_before == numpy.random.get_state()[1].tolist())
