"""A program that imports torch, makes a model and an optimizer, and never trains."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
print(len(optimizer.param_groups), seen.digest(net))
