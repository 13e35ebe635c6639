"""A GRU that continues waves, with clipped gradients."""
import toy
import torch
from torch import nn


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 24, batch_first=True)
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


toy.begin()
loader = toy.batches(*toy.waves())
model, criterion = Forecast(), nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
