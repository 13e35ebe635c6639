"""Nobody has chosen the start method of multiprocessing before the program does."""
import multiprocessing
import torch
import seen

net = seen.small_net()
seen.train(net, 15)
print(multiprocessing.get_start_method(allow_none=True), torch.multiprocessing.get_start_method(allow_none=True))
multiprocessing.set_start_method("spawn")
print(multiprocessing.get_start_method(), torch.multiprocessing.get_sharing_strategy(), seen.digest(net))
