"""A small classifier whose data has one broken sample: when its batch comes, the loss is NaN."""

import torch
from torch import nn

BROKEN_SAMPLE = 1234

torch.manual_seed(7)
inputs = torch.randn(2000, 20)
labels = (inputs[:, 0] + inputs[:, 1] > 0).long()
inputs[BROKEN_SAMPLE, 3] = float("nan")

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_of = nn.CrossEntropyLoss()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, labels), batch_size=50, shuffle=True)

for epoch in range(2):
    for batch, targets in loader:
        optimizer.zero_grad()
        loss = loss_of(model(batch), targets)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")
