"""A tracer counts the lines of the program's own code (coverage), and is still there afterwards."""
import collections
import sys
import torch
import seen

lines = collections.Counter()


def tracer(frame, event, arg):
    if frame.f_code.co_filename != __file__:
        return None
    lines[event] += 1
    return tracer


def main():
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1))
        loss.backward()
        optimizer.step()
    return net


sys.settrace(tracer)
net = main()
is_there = sys.gettrace() is tracer
sys.settrace(None)
print(sorted(lines.items()), is_there, seen.digest(net))
