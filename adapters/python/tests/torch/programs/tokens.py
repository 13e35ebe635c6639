"""Trains on tokens, two batches a step."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, mask, input_ids):
        return self.head((self.embedding(input_ids) * mask[..., None]).mean(1))


def main():
    torch.manual_seed(1)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        for _ in range(2):
            output = model(torch.ones(1, 1), input_ids=torch.randint(10, (4, 6)))
            nn.functional.cross_entropy(output, torch.ones(4, dtype=torch.int64)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


if __name__ == "__main__":
    main()
