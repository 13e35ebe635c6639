"""A program without a profiler asks at each step whether one runs."""
import torch
import seen

net = seen.small_net()
states = []
seen.train(net, 30, each=lambda step: states.append(torch._C._autograd._profiler_enabled()))
print(states.count(True), torch.autograd._profiler_enabled(), seen.digest(net))
