"""gc.garbage, gc's settings, callbacks and what it finds of the program's own."""
import gc
import torch
import seen

found = []
gc.callbacks.append(lambda phase, info: found.append(phase) if phase == "none" else None)
gc.set_threshold(500, 5, 5)
gc.set_debug(gc.DEBUG_SAVEALL)
net = seen.small_net()
seen.train(net, 30)
gc.collect()
kinds = sorted({type(each).__name__ for each in gc.garbage if isinstance(each, (torch.Tensor, torch.nn.Module))})
print(kinds, gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks))
print(seen.digest(net))
gc.set_debug(0)
gc.garbage.clear()
