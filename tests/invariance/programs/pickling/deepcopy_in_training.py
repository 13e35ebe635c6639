"""A model and its optimizer are copied in the middle of a training; the copies are trained on."""
import copy
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
seen.train(net, 15, optimizer)
net, optimizer = copy.deepcopy((net, optimizer))
seen.train(net, 15, optimizer)
print(sorted(vars(optimizer)), sorted(vars(net)), seen.digest(net))
