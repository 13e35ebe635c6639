"""A DataLoader and its iterator: copied, pickled, compared, with its attributes."""
import copy
import pickle
import torch
from torch.utils.data import DataLoader, TensorDataset
import seen

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(16, 4), torch.randn(16, 1)), 4, shuffle=True)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)


def epoch(batches):
    for x, y in batches:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()


epoch(loader)
print(sorted(vars(loader)), sorted(vars(iter(loader))), type(iter(loader)).__name__)
epoch(copy.copy(loader))
epoch(copy.deepcopy(loader))
epoch(pickle.loads(pickle.dumps(loader)))
print(seen.digest(net), seen.random_states())
