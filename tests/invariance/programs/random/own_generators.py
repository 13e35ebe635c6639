"""Generators of the program's own, for weights, dropout, loaders and permutations."""
import torch
from torch.utils.data import DataLoader, RandomSampler, random_split
import seen

generator = torch.Generator().manual_seed(5)
data = torch.randn(40, 4, generator=generator)
parts = random_split(data, [30, 10], generator=generator)
net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
loader = DataLoader(parts[0], 5, sampler=RandomSampler(parts[0], generator=generator), generator=generator)
for epoch in range(4):
    for x in loader:
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        optimizer.step()
print(seen.digest_of(generator.get_state()), list(parts[1].indices), seen.digest(net), seen.random_states())
