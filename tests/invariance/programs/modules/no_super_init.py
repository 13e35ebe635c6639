"""Modules that are made by __new__ alone, or whose forward is put on the object."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
plain = net.forward
net.forward = lambda x: plain(x) + 1
bare = torch.nn.Module.__new__(torch.nn.Module)
try:
    bare(torch.ones(1))
except Exception as error:
    print(type(error).__name__, error)
seen.train(net, 20)
print("forward" in vars(net), seen.digest(net))
