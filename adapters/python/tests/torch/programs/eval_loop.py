"""Epochs of training with an evaluation after each, and a teacher that is only asked."""

import copy

import torch
from torch import nn

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Tanh())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    torch.manual_seed(4)
    student = Net()
    teacher = copy.deepcopy(student).eval()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
    for epoch in range(2):
        student.train()
        for _ in range(3):
            x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
            with torch.no_grad():
                hint = teacher(x)
            optimizer.zero_grad()
            loss = criterion(student(x), y) + 0.1 * (hint.sum() * 0)
            loss.backward()
            optimizer.step()
            sees("train/CrossEntropyLoss_output_0", loss)
        student.eval()
        with torch.no_grad():
            for _ in range(2):
                x, y = torch.randn(6, 4), torch.randint(0, 3, (6,))
                loss = criterion(student(x), y)
                sees("eval/CrossEntropyLoss_output_0", loss)
        print(f"epoch {epoch} loss {loss.item():.17g}")
    report(student)


if __name__ == "__main__":
    main()
