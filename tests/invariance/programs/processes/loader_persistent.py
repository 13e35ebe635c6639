"""Persistent workers that draw random numbers of torch, numpy and Python, with a worker_init_fn."""
import random
import numpy
import torch
from torch.utils.data import DataLoader, Dataset
import seen


class Noise(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.rand(4) + float(numpy.random.rand()) + random.random()


def begin(worker):
    numpy.random.seed(torch.initial_seed() % 2**32)
    random.seed(torch.initial_seed())


if __name__ == "__main__":
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    loader = DataLoader(Noise(), 4, num_workers=1, persistent_workers=True, worker_init_fn=begin, shuffle=True)
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
    print(seen.digest(net), seen.random_states())
