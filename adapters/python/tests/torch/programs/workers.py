"""Workers that load data, started by fork or by spawn; each calls a model of its own to transform the data."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from outcome import report, sees


class Data(Dataset):
    def __init__(self):
        self.transform = nn.Linear(4, 4)

    def __len__(self):
        return 12

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        with torch.no_grad():
            return self.transform(torch.randn(4, generator=generator)), torch.zeros(2)


def main(start):
    torch.manual_seed(11)
    data = Data()
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.MSELoss()
    for _ in range(2):
        loader = DataLoader(data, batch_size=4, num_workers=2, multiprocessing_context=start)
        for step, (inputs, target) in enumerate(loader):
            optimizer.zero_grad()
            loss = criterion(model(inputs), target)
            loss.backward()
            optimizer.step()
            sees("MSELoss_output_0", loss)
            print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main(sys.argv[1])
