"""A sampler whose iteration and length count, and a batch sampler that draws random numbers."""
import torch
from torch.utils.data import DataLoader, Sampler, TensorDataset
import seen

calls = []


class Counting(Sampler):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        calls.append("iter")
        yield from torch.randperm(self.count).tolist()

    def __len__(self):
        calls.append("len")
        return self.count


torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = TensorDataset(torch.randn(40, 4), torch.randn(40, 1))
loader = DataLoader(data, batch_size=8, sampler=Counting(40))
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
print(calls, seen.digest(net), seen.random_states())
