"""A profile function counts calls of functions by file, of torch and of the program (cProfile, torch's own)."""
import collections
import os
import sys
import torch
import seen

calls = collections.Counter()


def profiler(frame, event, arg):
    if event == "call":
        name = frame.f_code.co_filename
        if "/torch/" in name and "trainwarden" not in name or name == __file__:
            calls[os.path.basename(name) + ":" + frame.f_code.co_name] += 1


def main():
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(12):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1)).backward()
        optimizer.step()
    return net


sys.setprofile(profiler)
net = main()
is_there = sys.getprofile() is profiler
sys.setprofile(None)
print(is_there, seen.digest(net))
for name, count in sorted(calls.items()):
    print(name, count)
