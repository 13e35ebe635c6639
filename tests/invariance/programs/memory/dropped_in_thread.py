"""Models that are trained in threads which end: nothing of them stays behind."""
import gc
import threading
import weakref
import torch
import seen

dropped = []


def work(number):
    generator = torch.Generator().manual_seed(number)
    net = torch.nn.Linear(256, 256)
    dropped.append(weakref.ref(net.weight))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    for step in range(6):
        optimizer.zero_grad()
        net(torch.randn(2, 256, generator=generator)).pow(2).mean().backward()
        optimizer.step()


for number in range(5):
    thread = threading.Thread(target=work, args=(number,))
    thread.start()
    thread.join()
    gc.collect()
    print(number, [each() is not None for each in dropped])
