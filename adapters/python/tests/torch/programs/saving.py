"""Saves, loads and copies the model, the optimizer and the loss module while they are trained."""

import copy
import hashlib
import io
import pickle

import torch
from torch import nn

from outcome import report


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


def digest(thing):
    file = io.BytesIO()
    torch.save(thing, file)
    return hashlib.sha256(file.getvalue()).hexdigest()


def main():
    torch.manual_seed(16)
    model, criterion = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(3):
        optimizer.zero_grad()
        loss = criterion(model(torch.randn(5, 4)), torch.randint(0, 3, (5,)))
        loss.backward()
        optimizer.step()
        print(digest(model), digest(optimizer.state_dict()), digest(criterion))
        print(sorted(vars(copy.deepcopy(model))), sorted(vars(model)))
        print(pickle.loads(pickle.dumps(model))(torch.ones(1, 4)).tolist())
        print(torch.jit.script(model)(torch.ones(1, 4)).tolist())
    report(model)


if __name__ == "__main__":
    main()
