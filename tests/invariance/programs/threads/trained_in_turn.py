"""One model is trained by the main thread, then by another, then by the main thread again."""
import threading
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
seen.train(net, 10, optimizer)
thread = threading.Thread(target=seen.train, args=(net, 10, optimizer))
thread.start()
thread.join()
seen.train(net, 10, optimizer)
print(seen.digest(net), seen.random_states())
