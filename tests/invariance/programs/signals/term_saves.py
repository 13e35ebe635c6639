"""A handler of SIGTERM sets a flag; the loop saves and ends with the program's own code (preemption)."""
import os
import signal
import sys
import torch
import seen

stop = []
signal.signal(signal.SIGTERM, lambda number, frame: stop.append(number))
net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(1000):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
    if step == 25:
        os.kill(os.getpid(), signal.SIGTERM)
    if stop:
        torch.save(net.state_dict(), "last.pt")
        print("stopped after", step, stop, seen.digest(net))
        sys.exit(12)
