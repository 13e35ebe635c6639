"""A MemoryError, and torch's own when too much is asked for."""
import torch
import seen

net = seen.small_net()
seen.train(net, 10)
for size in (1 << 50,):
    try:
        torch.empty(size)
    except RuntimeError as error:
        print(type(error).__name__, str(error)[:60])
    try:
        bytearray(size)
    except MemoryError as error:
        print(type(error).__name__, error.args)
seen.train(net, 10)
print(seen.digest(net))
