"""A program of one step."""
import torch
import seen

net = seen.small_net()
seen.train(net, 1)
print(seen.digest(net))
