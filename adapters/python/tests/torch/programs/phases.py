"""A training that takes its time, or goes its way, as the first argument says: data, evaluation, checkpoint, closure,
accumulation, raising. The second one: how many processes load its data."""

import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SLOW_S = 0.02


class Samples(Dataset):
    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((4,), float(index))


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for batch in loader:
            model(batch)
            time.sleep(SLOW_S)
    model.train()


def train(what, workers):
    torch.manual_seed(3)
    model, criterion = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), nn.MSELoss()
    kind = torch.optim.LBFGS if what == "closure" else torch.optim.SGD
    optimizer = kind(model.parameters(), lr=1e-6)
    loader = DataLoader(Samples(12, SLOW_S if what == "data" else 0.0), batch_size=2, num_workers=workers)
    validation = DataLoader(Samples(4, SLOW_S), batch_size=2)

    def compute(batch):
        optimizer.zero_grad()
        loss = criterion(model(batch), torch.zeros(len(batch), 1))
        loss.backward()
        return loss

    with tempfile.TemporaryDirectory() as folder:
        for step, batch in enumerate(loader):
            if what == "closure":
                optimizer.step(lambda: compute(batch))
                continue
            if what == "raising":
                try:
                    model(torch.zeros(3))
                except RuntimeError:
                    pass
            compute(batch)
            if what == "accumulation" and step % 2 == 0:
                continue
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if what == "evaluation" and step % 3 == 2:
                evaluate(model, validation)
            if what == "checkpoint":
                torch.save(model.state_dict(), Path(folder) / "model.pt")


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
