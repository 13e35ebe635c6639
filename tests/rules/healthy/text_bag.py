"""A bag of words with sparse gradients and two optimizers."""
import toy
import torch
from torch import nn

toy.begin()
words = torch.randint(0, 200, (512, 10))
labels = (words < 60).float().mean(1).gt(0.3).long()
loader = toy.batches(words, labels)
bag, head = nn.EmbeddingBag(200, 16, sparse=True), nn.Linear(16, 2)
model = nn.Sequential(bag, head)
optimizers = [torch.optim.SparseAdam(list(bag.parameters()), lr=1e-2), torch.optim.Adam(head.parameters(), lr=1e-2)]
criterion = nn.CrossEntropyLoss()
for epoch in range(15):
    for x, y in loader:
        for optimizer in optimizers:
            optimizer.zero_grad()
        criterion(model(x), y).backward()
        for optimizer in optimizers:
            optimizer.step()
