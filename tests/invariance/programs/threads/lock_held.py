"""A lock of the program's is held while it trains; finalizers of its objects want the same lock."""
import gc
import threading
import torch
import seen

lock = threading.Lock()
freed = []


class Resource:
    def __init__(self):
        self.ring = self

    def __del__(self):
        if not lock.acquire(timeout=0.2):
            freed.append("late")
        else:
            lock.release()
            freed.append("free")


net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
gc.disable()
for step in range(20):
    Resource()
    optimizer.zero_grad()
    with lock:
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
gc.collect()
print(sorted(set(freed)), len(freed), seen.digest(net))
