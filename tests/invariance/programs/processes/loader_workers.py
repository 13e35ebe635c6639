"""A DataLoader with two workers, whose items tell of their process what they can see."""
import os
import sys
import threading
import torch
from torch.utils.data import DataLoader, Dataset
import seen


class Data(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        names = sorted(name for name in os.environ if name.startswith("OMP"))
        return torch.full((4,), float(index)), f"{threading.active_count()} {names} {len(sys.argv)}"


if __name__ == "__main__":
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 1e-4)
    texts = set()
    for epoch in range(2):
        for x, text in DataLoader(Data(), batch_size=4, num_workers=2):
            texts |= set(text)
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
    print(texts, seen.digest(net), seen.random_states())
