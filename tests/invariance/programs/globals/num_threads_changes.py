"""The number of threads is changed in the training, and is what the program has set."""
import torch
import seen

net = seen.small_net()
found = []
for count in (1, 2, 3, 1):
    torch.set_num_threads(count)
    seen.train(net, 5)
    found.append(torch.get_num_threads())
torch.set_num_interop_threads(2)
print(found, torch.get_num_interop_threads(), seen.digest(net))
