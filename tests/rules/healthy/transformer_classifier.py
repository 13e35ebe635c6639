"""A transformer encoder with warm-up and AdamW."""
import toy
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(5, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.encoder(self.project(x)).mean(1))


toy.begin()
inputs, labels = toy.blobs()
loader = toy.batches(inputs.view(-1, 4, 5), labels)
model, criterion = Classifier(), nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 40))
for epoch in range(8):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        schedule.step()
