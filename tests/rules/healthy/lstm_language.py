"""A character model: embedding, LSTM, dropout."""
import toy
import torch
from torch import nn


class Language(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.embedding = nn.Embedding(letters, 16)
        self.rnn = nn.LSTM(16, 48, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(48, letters)

    def forward(self, x):
        return self.head(self.dropout(self.rnn(self.embedding(x))[0]))


toy.begin()
numbers, letters = toy.text()
loader = toy.batches(*toy.windows(numbers))
model, criterion = Language(letters), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x).flatten(0, 1), y.flatten()).backward()
        optimizer.step()
