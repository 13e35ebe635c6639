"""How often the garbage collector runs by itself in a training that makes little garbage."""
import gc
import torch
import seen

gc.collect()
gc.freeze()
gc.set_threshold(100000, 10, 10)
runs = []
gc.callbacks.append(lambda phase, info: runs.append(info["generation"]) if phase == "start" else None)
net = seen.small_net()
seen.train(net, 100)
print(runs, gc.get_freeze_count() > 0, seen.digest(net))
