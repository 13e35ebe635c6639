"""A daemon thread trains while the main thread goes on, and is still at it when the program ends."""
import threading
import time
import torch

started = threading.Event()


def work():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    while True:
        optimizer.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        started.set()
        time.sleep(0.0005)


threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.3)
print("ends", threading.active_count())
