"""Grad mode, autocast and default dtype in other threads are what they are in a new thread."""
import threading
import torch
import seen

states = []


def look():
    states.append((torch.is_grad_enabled(), torch.is_autocast_enabled(), torch.is_inference_mode_enabled()))


net = seen.small_net()


def each(step):
    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()


seen.train(net, 10, each=each)
with torch.no_grad():
    seen_in = net(torch.ones(1, 4))
    each(0)
print(set(states), len(states), seen.digest(net))
