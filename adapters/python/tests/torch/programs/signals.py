"""A training from a data set, with all that signals tell of; an argument chooses how gradients are zeroed."""

import os
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from outcome import report, sees


class Numbered(Dataset):
    """Each sample knows its place."""

    def __len__(self):
        return 12

    def __getitem__(self, place):
        return torch.full((4,), float(place)).sin(), place


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.2)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.norm(self.fc1(x)))))


def zero(how, model, optimizer):
    if how == "optimizer":
        optimizer.zero_grad()
    elif how == "module":
        model.zero_grad(set_to_none=False)
    for parameter in model.parameters():
        if how == "none":
            parameter.grad = None
        elif how == "data" and parameter.grad is not None:
            parameter.grad.data.zero_()


def main(how, workers, file):
    torch.manual_seed(41)
    model = Net()
    model.fc2.bias.requires_grad_(False)
    foreign = torch.zeros(3, requires_grad=True)
    groups = [{"params": [*model.parameters()][:4]}, {"params": [model.fc2.weight, foreign], "lr": 0.2}]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    loader = DataLoader(Numbered(), batch_size=4, shuffle=True, num_workers=workers)
    for epoch in range(2):
        model.train()
        model.norm.eval()
        for x, places in loader:
            zero(how, model, optimizer)
            loss = F.cross_entropy(model(x), places % 3)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
            sees("train/trainwarden/clip/norm", norm)
            sees("train/trainwarden/batch/indices", places)
            optimizer.step()
            schedule.step()
        model.eval()
        with torch.no_grad():
            for x, places in DataLoader(Numbered(), batch_size=6):
                F.cross_entropy(model(x), places % 3)
                sees("eval/trainwarden/batch/indices", places)
        print(f"epoch {epoch} loss {loss.item():.17g}")
    if file:
        save(model, file)
    report(model)


def save(model, file):
    """Once as it is, renamed into place; once to an open file, another one, and with a NaN."""
    torch.save({"model": model.state_dict(), "epoch": 2}, file + ".new")
    os.rename(file + ".new", file)
    state = {f"module.{name}": value.clone() for name, value in model.state_dict().items()}
    state["module.fc1.weight"][0, 0] = float("nan")
    with open(file + ".bad", "wb") as opened:
        torch.save(state, opened)
    print(sorted(torch.load(file)["model"]), os.path.getsize(file) > 1000)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
