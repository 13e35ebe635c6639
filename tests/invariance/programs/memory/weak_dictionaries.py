"""A WeakKeyDictionary of models and a WeakSet of optimizers shrink as the program drops them."""
import gc
import weakref
import torch
import seen

models, optimizers = weakref.WeakKeyDictionary(), weakref.WeakSet()
sizes = []
for number in range(6):
    net = seen.small_net()
    models[net] = number
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    optimizers.add(optimizer)
    seen.train(net, 8, optimizer)
    gc.collect()
    sizes.append((len(models), len(optimizers)))
del net, optimizer
gc.collect()
print(sizes, len(models), len(optimizers))
