"""A thread makes batches, the main thread trains (a prefetcher); both see their own thread-local values."""
import queue
import threading
import torch
import seen

local = threading.local()
local.name = "main"
batches = queue.Queue(2)


def fill():
    local.name = "filler"
    generator = torch.Generator().manual_seed(1)
    for _ in range(40):
        batches.put(torch.randn(8, 4, generator=generator))
    batches.put(None)


thread = threading.Thread(target=fill, name="filler")
thread.start()
net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
while (batch := batches.get()) is not None:
    optimizer.zero_grad()
    net(batch).pow(2).mean().backward()
    optimizer.step()
thread.join()
print(vars(local), threading.active_count(), seen.digest(net))
