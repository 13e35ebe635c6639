"""clearml#1556: what the program allocated before its training and freed later is freed."""
import gc
import resource
import torch
import seen

ballast = torch.ones(24, 1024, 1024)
net = seen.small_net()
seen.train(net, 10)
del ballast
gc.collect()
seen.train(net, 10)
with open("/proc/self/statm") as statm:
    resident = int(statm.read().split()[1]) * resource.getpagesize() >> 20
print(resident < 320, seen.digest(net))
