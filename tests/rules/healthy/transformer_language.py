"""A causal transformer on text, with a cosine schedule."""
import toy
import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, letters, length):
        super().__init__()
        self.tokens, self.places = nn.Embedding(letters, 32), nn.Embedding(length, 32)
        layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, letters)
        self.register_buffer("mask", torch.triu(torch.full((length, length), float("-inf")), 1))

    def forward(self, x):
        return self.head(self.layers(self.tokens(x) + self.places.weight, self.mask))


toy.begin()
numbers, letters = toy.text()
loader = toy.batches(*toy.windows(numbers))
model, criterion = Causal(letters, 24), nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6 * len(loader))
for epoch in range(6):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x).flatten(0, 1), y.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
