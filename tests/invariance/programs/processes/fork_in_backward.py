"""A process forks inside a backward hook, and its child leaves at once."""
import os
import torch
import seen

net = seen.small_net()
children = []


def fork(gradient):
    child = os.fork()
    if child == 0:
        os._exit(3)
    children.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(10):
    optimizer.zero_grad()
    output = net(torch.randn(8, 4))
    output.register_hook(fork)
    output.pow(2).mean().backward()
    optimizer.step()
print(children, seen.digest(net))
